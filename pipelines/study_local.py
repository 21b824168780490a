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
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import GavelError
from components.core.progress import Progress, clock_text
from components.core.services.state import source_root, state_folder
from components.core.services.stores import start_store
from components.core.services.supervisor import supervise
from components.core.step import runlog
from components.cross_judge.work import cross, missing_crosses, note_unscored
from components.probe_bias.probing import is_probed, probe
from components.score.judges import at_work
from components.study.records import Kind, Record, write_record
from components.study.scoring import probed_identity
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
    check_machine(first, state_folder())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source_root()), os.environ.get("PYTHONPATH")]))
    lines: list[Line] = []
    for scorer in study.scorers:
        lines.append(_part("probe", _judge(scorer), lambda scorer=scorer: _probe(study, scorer)))  # type: ignore[misc]
    for arm in study.arms:
        lines.append(_part("arm", arm.name, lambda arm=arm: _train(study, arm)))  # type: ignore[misc]
    if study.spec.cross:
        for scorer in study.scorers:
            lines.append(_part("cross", _judge(scorer), lambda scorer=scorer: _cross(study, scorer)))  # type: ignore[misc]
    report: list[Path] = []
    lines.append(_part("report", study.spec.name, lambda: report.append(_report(study))))
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
def _session(study: "Study") -> Iterator[str]:
    """The store, under a supervisor of its own, and the run's log."""
    experiment, state = study.arms[0].experiment, state_folder()
    with supervise(state) as manager:
        os.environ[runlog.RUN_VARIABLE] = datetime.now(UTC).strftime(f"{study.spec.name}-%Y%m%d-%H%M%S")
        store = start_store(experiment.cluster.store, state, manager)
        check_store(store)
        yield store


def _probe(study: "Study", scorer: "Arm") -> None:
    with _session(study) as store:
        if is_probed(study, scorer, store):
            print("its outcomes are there already", flush=True)
            return
        try:
            with at_work(scorer.experiment, state_folder(), Progress("probe-bias"), None):
                probe(study, scorer, store)
        except GavelError as error:
            _note(store, study, "probes", scorer.name, probed_identity(study, scorer), error)
            raise


def _train(study: "Study", arm: "Arm") -> None:
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

    with _session(study) as store:
        found = find_arm(arm, store)
        if found is not None:
            write_record(store, study.spec.name, "arms", arm.name, found)
            print("everything of it is there already", flush=True)
            return
    with run_graph(arm.experiment, (*STEPS, "teardown-judge"), launch):
        pass


def _cross(study: "Study", scorer: "Arm") -> None:
    from components.core.errors import StepError

    with _session(study) as store:
        if not missing_crosses(study, scorer, store):
            print("every policy is scored already", flush=True)
            return
        progress = Progress("cross-judge")
        try:
            with at_work(scorer.experiment, state_folder(), progress, None):
                failed = cross(study, scorer, store, progress)
        except GavelError as error:
            note_unscored(study, scorer, store, error)
            raise
    if failed:
        raise StepError("; ".join(failed), where="cross-judge")


def _report(study: "Study") -> Path:
    from components.collect_study.work import collected_report

    with _session(study) as store:
        return collected_report(study, store, state_folder() / "reports" / study.spec.name)


def _note(store: str, study: "Study", kind: Kind, name: str, identity: str, error: GavelError) -> None:
    write_record(store, study.spec.name, kind, name, Record(identity, {}, error.what.split("\n")[0]))


def table(lines: Sequence[Line]) -> str:
    """What became of each part, for a terminal."""
    rows = [("part", "of", "time", "result"), *((e.part, e.name, clock_text(e.seconds), _result(e)) for e in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    )


def _result(line: Line) -> str:
    return f"failed: {line.error}" if line.error else "done"
