"""Starting a run on a cluster."""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.request import Request, store_url
from components.core.spec import Experiment, load_experiment
from components.core.spec.cluster import ClusterSpec
from components.core.spec.problems import config_error
from components.core.spec.study_load import load_study
from components.planning.assumptions import Assumptions
from components.planning.plan import make_plan
from components.study.checks import check_probes
from pipelines.compile import compile_pipelines
from pipelines.graphs import STUDY, evaluating_graph, training_graph
from pipelines.on_cluster import SERVICE_ACCOUNT, key_variables, kubernetes_of
from pipelines.remote.connect import Remote
from pipelines.remote.errors import no_answer
from pipelines.remote.portable import portable
from pipelines.remote.portable_study import portable_study

_EQUALS = 1
"""kfp's filter operation."""
_STORED = re.compile(r"s3://[^/\s]+/\S+")


@dataclass(frozen=True)
class Prepared:
    """A run that is right as far as this machine can tell.

    Attributes:
        name: of the experiment or study.
        experiments: with everything looked up, as the cluster will find them: one, or a study's arms.
        pipeline: name of the graph.
        arguments: its parameters.
    """

    name: str
    experiments: tuple[Experiment, ...]
    pipeline: str
    arguments: dict[str, str]

    @property
    def cluster(self) -> ClusterSpec:
        """The one cluster of them all."""
        return self.experiments[0].cluster


@dataclass(frozen=True)
class Submitted:
    """A run that KFP took on.

    Attributes:
        run_id: KFP's id.
        page: where a browser shows it.
        version: of the pipeline that it runs.
    """

    run_id: str
    page: str
    version: str


def prepare(
    source: str,
    overrides: list[str],
    *,
    judge: str = "",
    seed: str = "",
    start_from: str = "",
    checkpoint: str = "",
    base: str = "",
) -> Prepared:
    """Load and check the experiment as the cluster's first task will.

    Args:
        source: a name in configs/experiments, or a path.
        overrides: ``key=value``; they go into the experiment's text.
        judge: a name, which becomes the parameter; a path of a YAML file goes into the experiment's text.
        seed: a number, which becomes the parameter.
        start_from: URI of a model, which becomes the parameter.
        checkpoint: evaluate it, instead of training.
        base: with ``checkpoint``: 1 to have the policy before training answer too.

    Raises:
        ConfigError: a mistake, a file that only this machine has, a cluster that is this machine, or a training that
            its cluster cannot hold.
    """
    if judge.endswith((".yaml", ".yml")):
        overrides, judge = [f"judge={json.dumps(judge)}", *overrides], ""
    written = load_experiment(source, overrides)
    # The cluster decides which files must lie where; a local one is told of before its files are.
    kubernetes_of(written.cluster)
    for where, uri in (("START_FROM", start_from), ("CHECKPOINT", checkpoint)):
        if uri and not _STORED.fullmatch(uri):
            remedy = f"put it into the store, and name bucket and folder: {where}=s3://gavel/models/first"
            raise ConfigError(f"{uri} is no s3:// URI of a folder, and pods see no other", where=where, remedy=remedy)
    request = Request(portable(written), judge, seed, start_from)
    experiment = request.resolve()
    arguments = {
        "experiment": request.experiment,
        "judge": judge,
        "seed": seed,
        "start_from": start_from,
        "store": store_url(experiment),
    }
    if checkpoint:
        arguments |= {"checkpoint": checkpoint, "base": base}
        return Prepared(experiment.name, (experiment,), evaluating_graph(experiment), arguments)
    _check_plan([experiment])
    return Prepared(experiment.name, (experiment,), training_graph(experiment), arguments)


def prepare_study(source: str, overrides: list[str]) -> Prepared:
    """Load and check a study as the cluster's first task will.

    Args:
        source: a name in configs/studies, or a path.
        overrides: ``key=value``; they go into the study's text.

    Raises:
        ConfigError: a mistake, a file that only this machine has, a cluster that is this machine, or what its cluster
            cannot hold.
    """
    study = load_study(source, overrides)
    experiments = tuple(arm.experiment for arm in study.arms)
    kubernetes_of(experiments[0].cluster)
    arguments = {"study": portable_study(study), "store": store_url(experiments[0])}
    check_probes(study)
    _check_plan(experiments, queued=True)
    return Prepared(study.spec.name, experiments, STUDY, arguments)


def _check_plan(experiments: Sequence[Experiment], *, queued: bool = False) -> None:
    """Refuse what ``make plan`` and ``make study-plan`` refuse."""
    problems = make_plan(experiments, Assumptions(), queued=queued).problems
    if problems:
        raise config_error("the plan", problems)


def submit(remote: Remote, prepared: Prepared, *, allow_tags: bool = False) -> Submitted:
    """Upload the pipeline, unless KFP has it already, and start a run of it.

    The pipeline is uploaded as a version, and not sent along with the run, so that the UI lists it under Pipelines and
    anybody can start it there again with other parameters.

    Args:
        remote: where.
        prepared: what.
        allow_tags: see :func:`components.core.images.pinned`.

    Raises:
        ConfigError: an image has no digest.
        KfpError: KFP does not take it.
    """
    judges = [judge for each in prepared.experiments for judge in (*each.judges(), *each.served())]
    with tempfile.TemporaryDirectory() as folder:
        (package,) = compile_pipelines(
            Path(folder),
            prepared.cluster,
            names=(prepared.pipeline,),
            further_keys=sorted(key_variables(judges)),
            allow_tags=allow_tags,
            # Serving several users, KFP runs the pods in the user's namespace; otherwise in its own.
            claims=bool(remote.namespace),
        )
        pipeline_id, version_id, version = _upload(remote, package, prepared.pipeline)
    with remote.asking("the experiment"):
        folder_id = remote.client.create_experiment(prepared.name, namespace=remote.namespace or None).experiment_id
    name = datetime.now(UTC).strftime(f"{prepared.name} %Y-%m-%d %H:%M:%S")
    with remote.asking("the run"):
        run = remote.client.run_pipeline(
            folder_id,
            name,
            params=prepared.arguments,
            pipeline_id=pipeline_id,
            version_id=version_id,
            service_account=SERVICE_ACCOUNT,
        )
    if not isinstance(run.run_id, str):
        raise no_answer(remote.host, "the run that it made has no id; see make runs")
    return Submitted(run.run_id, remote.run_page(run.run_id), version)


def _upload(remote: Remote, package: Path, name: str) -> tuple[str, str, str]:
    """Ids of pipeline and version, and the version's name, which follows from the package's content."""
    import kfp_server_api  # type: ignore[import-untyped]

    version = f"{name}-{hashlib.sha256(package.read_bytes()).hexdigest()[:12]}"
    client = remote.client
    body = kfp_server_api.V2beta1Pipeline(
        display_name=name, name=name, namespace=remote.namespace or None, description="Gavel"
    )
    with remote.asking("the pipeline"):
        pipeline_id = _found_or_made(
            lambda: client.list_pipelines(filter=_named(name), namespace=remote.namespace or None).pipelines,
            lambda: client.pipelines.pipeline_service_create_pipeline(pipeline=body),
        ).pipeline_id
        version_id = _found_or_made(
            lambda: client.list_pipeline_versions(pipeline_id, filter=_named(version)).pipeline_versions,
            lambda: client.upload_pipeline_version(str(package), version, pipeline_id=pipeline_id),
        ).pipeline_version_id
    return pipeline_id, version_id, version


def _found_or_made(find: Callable[[], Any], make: Callable[[], Any]) -> Any:
    """The first that is found, else a new one. Another submission may make it in between, which KFP tells as a conflict
    or as a failure of its own; what it has then is the same, for the name follows from the content."""
    import kfp_server_api

    if found := find():
        return found[0]
    try:
        return make()
    except kfp_server_api.ApiException:
        if found := find():
            return found[0]
        raise


def _named(name: str) -> str:
    return json.dumps({"predicates": [{"operation": _EQUALS, "key": "display_name", "stringValue": name}]})
