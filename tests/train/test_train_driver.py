"""The driver inside a job, with the training itself played: what it publishes, leaves, and says."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import JudgeError
from components.core.spec import Experiment, load_experiment
from components.core.step import Elsewhere, StepContext
from components.core.step.execute import perform
from components.core.store import Store
from components.data.step import STEP as PREPARE
from components.engine.process import HungError
from components.rayjob import messages
from components.train import driver, step
from components.train.placed import STEP

ROOT = Path(__file__).resolve().parents[2]


class StopError(Exception):
    pass


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """What the step outside hands on; its request lies in the store."""
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    monkeypatch.setenv("GAVEL_ATTEMPT", "tiny-1-r1")
    experiment = load_experiment("dev_cluster", [], ROOT / "configs")
    store = (tmp_path / "store").as_uri()
    data = perform(PREPARE, experiment, store, {})
    seen: list[Elsewhere] = []

    def hand_on(asked: Elsewhere) -> None:
        seen.append(asked)
        raise StopError

    monkeypatch.setattr("components.rayjob.step.train_in_job", hand_on)
    with pytest.raises(StopError):
        perform(STEP, experiment, store, {"data": data.uri})
    [found] = seen
    request = messages.Request(experiment.to_json(), found.inputs, {})
    messages.write(found.store, found.place, messages.REQUEST, request)
    # The job's pods have another disk.
    shutil.rmtree(tmp_path / "state")
    return found


def drive(asked: Elsewhere, monkeypatch: pytest.MonkeyPatch, run: Any) -> int:
    monkeypatch.setattr(step, "run", run)
    monkeypatch.setenv("GAVEL_INSIDE_JOB", "0")
    return driver.drive(asked.store_url, f"{asked.place}/{messages.REQUEST}")


def last_words(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1].removeprefix(driver.LAST_WORDS))
    return found


def trained(ctx: StepContext) -> dict[str, Any]:
    (ctx.out / "weights").write_text("trained")
    return {"steps": 3}


def test_it_publishes_under_the_identity_that_was_asked_for_and_only_once(
    asked: Elsewhere, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked.store.write_bytes(f"{asked.place}/checkpoints/global_step_1/checkpoint/model.pt", b"old")
    assert drive(asked, monkeypatch, trained) == 0
    words = last_words(capsys)
    assert words["result"].startswith(f"{asked.store_url}/{asked.place}/")
    assert words["reused"] is False
    assert asked.store.list(f"{asked.place}/checkpoints") == []
    assert asked.store.exists(f"{asked.place}/result.json")
    assert drive(asked, monkeypatch, never) == 0
    assert last_words(capsys)["reused"] is True
    beat = messages.read_heartbeat(asked.store, asked.place)
    assert beat is not None
    assert beat.attempt == "tiny-1-r1"


def never(ctx: StepContext) -> dict[str, Any]:
    raise AssertionError("it was to be reused")


def test_an_error_is_left_so_that_the_step_outside_raises_the_same(
    asked: Elsewhere, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        raise JudgeError("the judge is out", where="reward", remedy="wake it")

    assert drive(asked, monkeypatch, run) == 1
    said = messages.read_failure(asked.store, asked.place)
    assert said is not None
    assert (said.attempt, said.hung) == ("tiny-1-r1", False)
    error = said.error()
    assert (type(error), error.what, error.where, error.remedy) == (JudgeError, "the judge is out", "reward", "wake it")
    assert last_words(capsys)["kind"] == "JudgeError"
    # It is taken back when the driver starts again.
    assert drive(asked, monkeypatch, trained) == 0
    assert messages.read_failure(asked.store, asked.place) is None


@pytest.mark.parametrize(
    ("raised", "kind", "hung"),
    [(HungError("no sign of life"), "HungError", True), (ZeroDivisionError("never planned for"), "StepError", False)],
)
def test_hangs_and_the_unforeseen_are_step_errors(
    asked: Elsewhere, monkeypatch: pytest.MonkeyPatch, raised: Exception, kind: str, hung: bool
) -> None:
    def run(ctx: StepContext) -> dict[str, Any]:
        raise raised

    assert drive(asked, monkeypatch, run) == 1
    said = messages.read_failure(asked.store, asked.place)
    assert said is not None
    assert (said.kind, said.hung) == (kind, hung)
    assert type(said.error()).__name__ == "StepError"
    assert str(raised) in said.what


def test_an_image_of_other_sources_does_not_train_something_else(
    asked: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = asked.place[:-4] + "0000"
    experiment = Experiment.from_json(asked.experiment.to_json())
    messages.write(asked.store, other, messages.REQUEST, messages.Request(experiment.to_json(), asked.inputs, {}))
    monkeypatch.setattr(step, "run", never)
    assert driver.drive(asked.store_url, f"{other}/{messages.REQUEST}") == 1
    said = messages.read_failure(asked.store, other)
    assert said is not None
    assert "another result" in said.what


def test_without_a_request_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAVEL_INSIDE_JOB", "0")
    store = Store.open((tmp_path / "store").as_uri())
    assert driver.drive(store.url, "nowhere/request.json") == 1
    assert last_words(capsys)["kind"] == "StorageError"
