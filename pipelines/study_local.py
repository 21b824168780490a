"""A study on this machine: judges are probed, arms train one at a time, policies are scored, and a report tells.

Each phase picks up what is there already, so that a second run, with one more judge or after a kill, does only what is
new. A part that fails is told and noted; the others go on.
"""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.columns import aligned
from components.core.errors import GavelError
from components.core.progress import Progress, clock_text
from components.core.services.filelock import FileLock
from components.core.services.state import source_root, state_folder
from components.core.services.stores import start_store
from components.core.services.supervisor import claim, supervise
from components.core.step import runlog
from components.cross_judge.work import cross, missing_crosses
from components.cross_judge.work import note_failure as note_uncrossed
from components.probe_bias.probing import is_probed, probe
from components.probe_bias.probing import note_failure as note_unprobed
from components.score.judges import at_work
from components.study.records import Record, write_record
from pipelines.arm_results import find_arm
from pipelines.local import check_placement, check_store, run_graph
from pipelines.preflight import check_machine

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.study_load import Study


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """What became of one part of the study.

    Attributes:
        part: ``probe``, ``arm``, ``cross`` or ``report``.
        name: of the arm, or of the judge and its protocol.
        seconds: how long it took.
        error: why it failed; empty where it did not.
    """

    part: str
    name: str
    seconds: float
    error: str = ""


def run_study(study: "Study") -> tuple[Path | None, list[Line]]:
    """Run a study here.

    Args:
        study: with all its arms; for this machine.

    Returns:
        The report's path, None where there is none, and what became of each part.

    Raises:
        ConfigError: the study is for a Kubernetes cluster.
        ServiceError: the machine does not do, another run is at work here, or the store does not start.
    """
    first = study.arms[0].experiment
    check_placement(first)
    # For all parts: another run that came between two of them would make one of these fail.
    with claim(state_folder()) as claimed:
        check_machine(first, state_folder())
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source_root()), os.environ.get("PYTHONPATH")]))
        return _parts(study, claimed)


def _parts(study: "Study", claimed: FileLock) -> tuple[Path | None, list[Line]]:
    lines: list[Line] = []
    for scorer in study.scorers:
        lines.append(_part("probe", _judge(scorer), partial(_probe, study, scorer, claimed)))
    for arm in study.arms:
        lines.append(_part("arm", arm.name, partial(_train, study, arm, claimed)))
    if study.spec.cross:
        for scorer in study.scorers:
            lines.append(_part("cross", _judge(scorer), partial(_cross, study, scorer, claimed)))
    report: list[Path] = []
    lines.append(_part("report", study.spec.name, lambda: report.append(_report(study, claimed))))
    return (report[0] if report else None), lines


def _judge(scorer: "Arm") -> str:
    return f"{scorer.key.judge} ({scorer.key.reward})"


def _part(part: str, name: str, work: Callable[[], object]) -> Line:
    """Do one part; a failure the user can act on ends it alone."""
    print(f"\nstudy: {part} {name}", flush=True)
    began = time.monotonic()
    try:
        work()
    except GavelError as error:
        print(f"failed: {error}", flush=True)
        return Line(part, name, time.monotonic() - began, error.what.split("\n")[0])
    return Line(part, name, time.monotonic() - began)


@contextlib.contextmanager
def _session(study: "Study", claimed: FileLock) -> Iterator[str]:
    """The store, under a supervisor of the part's own, and the run's log."""
    experiment, state = study.arms[0].experiment, state_folder()
    with supervise(state, claimed) as manager:
        os.environ[runlog.RUN_VARIABLE] = datetime.now(UTC).strftime(f"{study.spec.name}-%Y%m%d-%H%M%S")
        store = start_store(experiment.cluster.store, state, manager)
        check_store(store)
        yield store


def _probe(study: "Study", scorer: "Arm", claimed: FileLock) -> None:
    with _session(study, claimed) as store:
        if is_probed(study, scorer, store):
            print("its outcomes are there already", flush=True)
            return
        try:
            with at_work(scorer.experiment, state_folder(), Progress("probe-bias"), None):
                probe(study, scorer, store)
        except GavelError as error:
            # Also of a judge that does not come up.
            note_unprobed(study, scorer, store, error)
            raise


def _train(study: "Study", arm: "Arm", claimed: FileLock) -> None:
    from pipelines.placing import Placing
    from pipelines.study_arm import STEPS, study_arm

    def launch(store: str) -> None:
        try:
            study_arm(Placing())(study=study.text, arm=arm.name, experiment=arm.experiment.to_json(), store=store)
        except RuntimeError as error:
            lines = runlog.read(runlog.log_path(state_folder()))
            failed = next((line for line in lines if line.status == "failed"), None)
            what = f"{failed.step}: {failed.error}" if failed else str(error).split("\n")[0]
            write_record(store, study.spec.name, "arms", arm.name, Record(arm.identity(), {}, what))
            raise

    with _session(study, claimed) as store:
        found = find_arm(arm, store)
        if found is not None:
            write_record(store, study.spec.name, "arms", arm.name, found)
            print("everything of it is there already", flush=True)
            return
    with run_graph(arm.experiment, (*STEPS, "teardown-judge"), launch, claimed):
        pass


def _cross(study: "Study", scorer: "Arm", claimed: FileLock) -> None:
    from components.core.errors import StepError

    with _session(study, claimed) as store:
        missing = missing_crosses(study, scorer, store)
        if not missing:
            print("every policy is scored already", flush=True)
            return
        progress = Progress("cross-judge")
        try:
            with at_work(scorer.experiment, state_folder(), progress, None):
                failed = cross(study, scorer, store, progress)
        except GavelError as error:
            note_uncrossed(study, scorer, store, missing_crosses(study, scorer, store), error)
            raise
    if failed:
        raise StepError("; ".join(failed), where="cross-judge")


def _report(study: "Study", claimed: FileLock) -> Path:
    from components.collect_study.work import collected_report

    with _session(study, claimed) as store:
        return collected_report(study, store, state_folder() / "reports" / study.spec.name)


def table(lines: Sequence[Line]) -> str:
    """What became of each part, for a terminal."""
    rows = [("part", "of", "time", "result"), *((e.part, e.name, clock_text(e.seconds), _result(e)) for e in lines)]
    return "\n".join(aligned(rows))


def _result(line: Line) -> str:
    return f"failed: {line.error}" if line.error else "done"
