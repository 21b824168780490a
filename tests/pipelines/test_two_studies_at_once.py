"""A study has its state folder for itself from its first part to its report."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.core.errors import ServiceError, StepError
from components.core.services.filelock import FileLock
from components.core.services.state import source_root
from components.core.services.supervisor import claim, supervise
from components.core.spec.study_load import Study, load_study
from pipelines import study_local

_STUDY = """
name: alone
experiment: {use: tiny, training: {steps: 2}}
judges:
  - {judge: scripted-longer, rewards: [rubric]}
seeds: [1]
controls: []
probes: {names: [style], modes: [binary], items: 10}
drift: null
"""
_OTHER = """
import sys
from pathlib import Path
from components.core.errors import GavelError
from components.core.services.supervisor import claim, supervise
try:
    with (supervise if sys.argv[2] == "run" else claim)(Path(sys.argv[1])):
        print("at work", flush=True)
        sys.stdin.read()
except GavelError as error:
    print(error.what)
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    for name in ("GAVEL_RUN_ID", "PYTHONPATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setattr(study_local, "check_machine", lambda *_: None)
    return tmp_path / "state"


@pytest.fixture
def study(state: Path) -> Study:
    return load_study(
        _STUDY, ["experiment.cluster.store.kind=folder", f"experiment.cluster.store.url={state.as_uri()}-store"]
    )


@contextmanager
def _other(state: Path, what: str) -> Iterator[tuple[int, str]]:
    """A command of another process: its pid, and what it says."""
    process = subprocess.Popen(
        [sys.executable, "-c", _OTHER, str(state), what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=source_root(),
    )
    assert process.stdout is not None
    try:
        yield process.pid, process.stdout.readline().strip()
    finally:
        process.communicate()


def _told(state: Path, pid: int) -> str:
    """Who is told to hold the folder, by the record in the lock itself."""
    record = json.loads((state / "lock").read_text(encoding="utf-8"))
    assert record["pid"] == pid
    return f"another run is at work in this state folder: pid {pid} since {record['since']} ({record['command']})"


def test_between_the_parts_of_a_study_no_other_run_gets_in(
    study: Study, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, str]] = []

    def part(name: str) -> object:
        def work(study: Study, *given: object) -> Path:
            claimed = given[-1]
            assert isinstance(claimed, FileLock)
            with _other(state, "run" if len(said) % 2 else "study") as (_, answer):
                said.append((name, answer))
            # The part's own session, and the lock outlives it.
            with study_local._session(study, claimed):
                pass
            if name == "arm":
                raise StepError("the arm fails")
            return state / "report.html"

        return work

    parts = {"_probe": "probe", "_train": "arm", "_cross": "cross", "_report": "report"}
    for name, word in parts.items():
        monkeypatch.setattr(study_local, name, part(word))
    report, lines = study_local.run_study(study)
    assert report == state / "report.html"
    assert [(line.part, line.error) for line in lines] == [
        ("probe", ""),
        ("arm", "the arm fails"),
        ("cross", ""),
        ("report", ""),
    ]
    told = _told(state, os.getpid())
    assert said == [("probe", told), ("arm", told), ("cross", told), ("report", told)]
    with _other(state, "run") as (_, answer):
        assert answer == "at work"


@pytest.mark.parametrize("what", ["run", "study"])
def test_a_second_study_is_refused_before_its_first_part_and_told_who_is_at_work(
    study: Study, state: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(study_local, "_parts", lambda *_: pytest.fail("a part was begun"))
    with _other(state, what) as (pid, answer):
        assert answer == "at work"
        with pytest.raises(ServiceError) as caught:
            study_local.run_study(study)
        assert caught.value.what == _told(state, pid)
    assert caught.value.where == str(state)
    assert "GAVEL_STATE" in caught.value.remedy


def test_what_is_claimed_stays_so_over_several_supervisors(state: Path) -> None:
    with claim(state) as claimed:
        for _ in range(2):
            with supervise(state, claimed):
                pass
        with pytest.raises(ServiceError, match=f"pid {os.getpid()} since"), supervise(state):
            raise AssertionError("not to be reached")
        with _other(state, "run") as (_, answer):
            assert answer == _told(state, os.getpid())
    with supervise(state):
        pass
