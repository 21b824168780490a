"""Running a pipeline on this machine, by KFP's local runner, under one supervising command."""

import contextlib
import dataclasses
import os
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from components.core.errors import ConfigError, StepError
from components.core.services.filelock import FileLock
from components.core.services.state import source_root, state_folder
from components.core.services.stores import start_store
from components.core.services.supervisor import supervise
from components.core.spec import Experiment
from components.core.step import runlog
from components.core.store import Store
from components.engine.trackers import check_trackers
from pipelines.graphs import graph_named, steps_of, training_graph
from pipelines.memory import PeakMemory
from pipelines.output import StepOutput
from pipelines.preflight import check_machine
from pipelines.summary import summary_table


@dataclasses.dataclass(frozen=True)
class Ran:
    """A run that ended well.

    Attributes:
        store: URL of the store's root.
        state: the state folder.
        lines: what became of each step.
    """

    store: str
    state: Path
    lines: Sequence[runlog.StepLine]

    def read(self, step: str, name: str) -> bytes:
        """A file that a step published.

        Raises:
            StepError: the step published nothing.
            StorageError: it has no such file.
        """
        uri = next((line.uri for line in reversed(self.lines) if line.step == step and line.status != "failed"), "")
        if not uri:
            raise StepError(f"the step {step} left no result", where=str(runlog.log_path(self.state)))
        source = Store.open(self.store)
        return source.read_bytes(f"{uri.removeprefix(source.url).strip('/')}/{name}")


def run_locally(experiment: Experiment, *, skip_data: bool = False) -> Path:
    """Run the experiment's graph here, and return the path of its report.

    Args:
        experiment: what to run.
        skip_data: the data must have been prepared before.

    Raises:
        ConfigError: ``skip_data``, and the data have not been prepared.
        GavelError: see :func:`run_graph`.
    """

    def launch(store: str) -> None:
        from pipelines.placing import Placing

        if skip_data:
            check_prepared(experiment, store)
        graph_named(training_graph(experiment))(Placing())(experiment=experiment.to_json(), store=store)

    with run_graph(experiment, steps_of(experiment), launch) as ran:
        target = ran.state / "reports" / experiment.name
        target.mkdir(parents=True, exist_ok=True)
        # A copy where a browser can open it.
        for name in ("report.html", "summary.json"):
            (target / name).write_bytes(ran.read("report", name))
    return target / "report.html"


def check_prepared(experiment: Experiment, store: str) -> None:
    """Refuse a run that is to skip preparing data which nobody prepared.

    Raises:
        ConfigError: the store has no whole result of prepare-data for these data, this seed and this code.
    """
    from components.core.step.published import find_published
    from components.data.step import STEP

    if find_published(STEP, experiment, store) is None:
        raise ConfigError(
            "the data are not prepared: nothing is published for these sources, settings, seed and code",
            where=f"{store}/{experiment.name}/{STEP.name}",
            remedy="make data EXPERIMENT=... prepares them, and so does a run without SKIP_DATA=1; finished data are "
            "not prepared again anyway",
        )


@contextlib.contextmanager
def run_graph(
    experiment: Experiment, steps: Sequence[str], launch: Callable[[str], None], claimed: FileLock | None = None
) -> Iterator[Ran]:
    """Run a graph here, by KFP's local runner; what it left can be read inside the ``with``, after which the store may
    be gone with the other services.

    Steps whose results are published already are not run again. Whatever ends the run, its services end with it.

    Args:
        experiment: says where, and what the machine must have.
        steps: the graph's steps in order, for the final table.
        launch: calls the graph, given the URL of the store's root.
        claimed: see :func:`components.core.services.supervisor.supervise`.

    Raises:
        ConfigError: the experiment is for a Kubernetes cluster, or a tracker that it names cannot work.
        ServiceError: the machine does not do, another run is at work here, or the store does not start.
        StepError: a step failed; its own message stands above.
    """
    check_placement(experiment)
    state = state_folder()
    check_machine(experiment, state)
    check_trackers(experiment.training)
    started = time.time()
    with supervise(state, claimed) as manager, PeakMemory() as memory:
        run_id = datetime.now(UTC).strftime(f"{experiment.name}-%Y%m%d-%H%M%S")
        os.environ[runlog.RUN_VARIABLE] = run_id
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source_root()), os.environ.get("PYTHONPATH")]))
        store = start_store(experiment.cluster.store, state, manager)
        check_store(store)
        print(f"run {run_id}: experiment {experiment.name}, results in {store}, state in {state}", flush=True)
        try:
            log = state / "logs" / f"{run_id}.log"
            with StepOutput(sys.stdout, log) as output, contextlib.redirect_stdout(output):
                _run_pipeline(lambda: launch(store), state / "kfp" / run_id)
        finally:
            # KFP's folder holds nothing but pointers and logs of this run.
            shutil.rmtree(state / "kfp" / run_id, ignore_errors=True)
            lines = runlog.read(runlog.log_path(state))
            print(summary_table(lines, steps, seconds=time.time() - started, peak_bytes=memory.peak), flush=True)
        yield Ran(store, state, lines)


def check_placement(experiment: Experiment) -> None:
    """Refuse to do here what is for a cluster.

    Raises:
        ConfigError: the experiment is for a Kubernetes cluster.
    """
    if experiment.cluster.placement != "local":
        raise ConfigError(
            f"cluster {experiment.cluster.name} is on Kubernetes",
            where="cluster.placement",
            remedy="add cluster=local-cpu to run it here, or submit it to the cluster",
        )


def check_store(url: str) -> None:
    """Find out now, and not after minutes, that nothing can be written there.

    Raises:
        StorageError: so it is.
    """
    store = Store.open(url)
    key = f"write-check-{uuid.uuid4().hex}"
    store.write_bytes(key, b"")
    store.delete(key)


def _run_pipeline(launch: Callable[[], None], root: Path) -> None:
    from kfp import local

    warnings.filterwarnings("ignore", module=r"kfp\.local")
    local.init(runner=local.SubprocessRunner(use_venv=False), pipeline_root=str(root), raise_on_error=True)
    try:
        launch()
    except RuntimeError as error:
        raise StepError(
            "the pipeline stopped at a failed step (see its message above)",
            remedy="mend the cause and run the same command again: finished steps are not repeated",
        ) from error
