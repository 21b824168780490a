"""The report of a run on a cluster, brought to this machine."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from components.core.errors import StorageError
from components.core.progress import Progress
from components.core.request import store_url
from components.core.services.state import state_folder
from components.core.spec import Experiment
from components.core.step.kfp import RUNS
from components.core.step.results import open_sources
from components.core.store import Store
from components.tasks.results import FILE as RESULTS
from pipelines.remote.asked import asked_of, parameters_of
from pipelines.remote.connect import Remote
from pipelines.remote.errors import KfpError
from pipelines.remote.runs import SHORT, find_run
from pipelines.remote.tasks import failing, tasks_of

FILES = ("report.html", "summary.json")
_ENDPOINT = "GAVEL_S3_ENDPOINT"
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def fetch_report(remote: Remote, given: str) -> list[Path]:
    """Write report.html and summary.json (of a study study.json) of a run below ``reports/`` of the state folder.

    An evaluation has no report; of one the figures alone are fetched. KFP's API does not say where artifacts lie; each
    run notes it in the store (see :mod:`components.core.step.kfp`). Returns the paths.

    Args:
        remote: where.
        given: see :func:`pipelines.remote.runs.find_run`.

    Raises:
        KfpError: there is no such run, or it has no report.
        StorageError: the store cannot be reached from here, or a file is corrupt.
    """
    run = find_run(remote, given)
    experiment, name = asked_of(run)
    url = store_url(experiment, parameters_of(run).get("store", ""))
    if experiment.cluster.store.endpoint and not os.environ.get(_ENDPOINT):
        os.environ[_ENDPOINT] = experiment.cluster.store.endpoint
    step, files = _left(parameters_of(run), experiment)
    key = f"{RUNS}/{run.run_id}/{step}.json"
    try:
        store = Store.open(url)
        if not store.exists(key):
            tasks = tasks_of(run)
            failed = failing(tasks)
            reason = f"its step {failed} failed" if failed else f"it is {str(run.state or 'unknown').lower()}"
            raise KfpError(
                f"run {run.run_id} has no {step} yet: {reason}", where=store.uri(key), remedy="see make logs RUN=..."
            )
        uri = str(json.loads(store.read_bytes(key))["uri"])
        target = state_folder() / "reports" / f"{name}-{run.run_id[:SHORT]}"
        return _fetch(store, uri, files, target)
    except StorageError as error:
        raise _told(error, url) from error


def _left(parameters: Mapping[str, str], experiment: Experiment) -> tuple[str, tuple[str, ...]]:
    """The step that leaves what a reader wants of a run, and its files."""
    if parameters.get("study"):
        return "study-report", ("report.html", "study.json")
    if "checkpoint" in parameters:
        return ("score-tasks", (f"trained/{RESULTS}",)) if experiment.data.kind == "mixture" else ("score", FILES[1:])
    return "report", FILES


def _fetch(store: Store, uri: str, files: tuple[str, ...], target: Path) -> list[Path]:
    source = open_sources(store, {"report": uri})["report"]
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        found = source.fetch(Path(folder), Progress("report"), files)
        for name in files:
            shutil.copyfile(found / name, target / Path(name).name)
    return [target / Path(name).name for name in files]


def _told(error: StorageError, url: str) -> StorageError:
    missing = [name for name in _KEYS if not os.environ.get(name)]
    keys = f"{' and '.join(missing)} are not set; " if missing and url.startswith("s3://") else ""
    reach = f"{_ENDPOINT}=http://... says where the store is from here (kubectl port-forward makes one)"
    return StorageError(f"the report cannot be read: {error.what}", where=error.where or url, remedy=f"{keys}{reach}")
