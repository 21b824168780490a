"""Running a pipeline on this machine, by KFP's local runner, under one supervising command."""

import contextlib
import os
import shutil
import sys
import time
import uuid
import warnings
from datetime import UTC, datetime
from pathlib import Path

from components.core.errors import ConfigError, StepError
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.state import source_root, state_folder
from components.core.services.supervisor import supervise
from components.core.spec import Experiment
from components.core.step import runlog
from components.core.store import Store
from pipelines.memory import PeakMemory
from pipelines.output import StepOutput
from pipelines.preflight import check_machine
from pipelines.summary import summary_table

STEPS = (
    "prepare-data",
    "deploy-judge",
    "probe-judge",
    "train-grpo",
    "merge-checkpoint",
    "generate",
    "score",
    "report",
    "teardown-judge",
)


def run_locally(experiment: Experiment) -> Path:
    """Run ``judged_grpo`` here, and return the path of its report.

    Steps whose results are published already are not run again. Whatever ends the run, its services end with it.

    Raises:
        ConfigError: the experiment is for a Kubernetes cluster.
        ServiceError: the machine does not do, another run is at work here, or the store does not start.
        StepError: a step failed; its own message stands above.
    """
    if experiment.cluster.placement != "local":
        raise ConfigError(
            f"cluster {experiment.cluster.name} is on Kubernetes",
            where="cluster.placement",
            remedy="add cluster=local-cpu to run it here, or submit it to the cluster",
        )
    state = state_folder()
    check_machine(experiment, state)
    started = time.time()
    with supervise(state) as manager, PeakMemory() as memory:
        run_id = datetime.now(UTC).strftime(f"{experiment.name}-%Y%m%d-%H%M%S")
        os.environ[runlog.RUN_VARIABLE] = run_id
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source_root()), os.environ.get("PYTHONPATH")]))
        store = start_store(experiment, state, manager)
        _check_store(store)
        print(f"run {run_id}: experiment {experiment.name}, results in {store}, state in {state}", flush=True)
        try:
            log = state / "logs" / f"{run_id}.log"
            with StepOutput(sys.stdout, log) as output, contextlib.redirect_stdout(output):
                _run_pipeline(experiment, store, state / "kfp" / run_id)
        finally:
            # KFP's folder holds nothing but pointers and logs of this run.
            shutil.rmtree(state / "kfp" / run_id, ignore_errors=True)
            lines = runlog.read(runlog.log_path(state))
            print(summary_table(lines, STEPS, seconds=time.time() - started, peak_bytes=memory.peak), flush=True)
        return _fetch_report(experiment, store, lines, state)


def start_store(experiment: Experiment, state: Path, manager: ServiceManager | None = None) -> str:
    """The URL of the store's root; for S3 the client's settings are put into the environment.

    Raises:
        ServiceError: the embedded server does not start.
    """
    store = experiment.cluster.store
    if store.kind == "folder":
        return store.url or (state / "store").as_uri()
    if store.kind == "s3":
        os.environ["GAVEL_S3_ENDPOINT"] = str(store.endpoint)
        return store.url or f"s3://{store.bucket}"
    bucket = store.bucket or seaweedfs.BUCKET
    os.environ.update(seaweedfs.start(state, bucket=bucket, manager=manager))
    return f"s3://{bucket}"


def _check_store(url: str) -> None:
    """Find out now, and not after minutes, that nothing can be written there."""
    store = Store.open(url)
    key = f"write-check-{uuid.uuid4().hex}"
    store.write_bytes(key, b"")
    store.delete(key)


def _run_pipeline(experiment: Experiment, store: str, root: Path) -> None:
    from kfp import local

    from pipelines.judged_grpo import judged_grpo

    warnings.filterwarnings("ignore", module=r"kfp\.local")
    local.init(runner=local.SubprocessRunner(use_venv=False), pipeline_root=str(root), raise_on_error=True)
    try:
        judged_grpo(experiment=experiment.to_json(), store=store, code_version="local")
    except RuntimeError as error:
        raise StepError(
            "the pipeline stopped at a failed step (see its message above)",
            remedy="mend the cause and run the same command again: finished steps are not repeated",
        ) from error


def _fetch_report(experiment: Experiment, store: str, lines: list[runlog.StepLine], state: Path) -> Path:
    """A copy of the published report where a browser can open it."""
    uri = next((line.uri for line in reversed(lines) if line.step == "report" and line.status != "failed"), "")
    if not uri:
        raise StepError("the run left no report", where=str(runlog.log_path(state)))
    source = Store.open(store)
    target = state / "reports" / experiment.name
    target.mkdir(parents=True, exist_ok=True)
    prefix = uri.removeprefix(source.url).strip("/")
    for name in ("report.html", "summary.json"):
        (target / name).write_bytes(source.read_bytes(f"{prefix}/{name}"))
    return target / "report.html"
