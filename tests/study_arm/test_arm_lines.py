"""The steps that open and close an arm: their lines in the run's final table, and the record that the last writes."""

from types import SimpleNamespace

import pytest

from components.core.spec.study_load import load_study
from components.core.step import runlog
from components.study.records import Left, read_record
from components.study_arm.opening import close_arm, open_arm, open_study


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("GAVEL_RUN_ID", "run")
    return tmp_path / "state"


def lines(state):
    return [(line.step, line.status, line.error) for line in runlog.read(runlog.log_path(state))]


def test_an_arm_that_was_opened_and_closed_is_told_as_run(state, tmp_path):
    arm = load_study("quick").arms[0]
    url = (tmp_path / "store").as_uri()
    open_study("quick", url)
    open_arm("quick", arm.name, url)
    scores = SimpleNamespace(uri="kfp/scores", metadata={"folder": f"{url}/scores/1", "sha256": "b" * 64})
    close_arm("quick", arm.name, url, {"scores": scores, "drift": None})
    assert lines(state) == [("study-arms", "ran", ""), ("resolve-arm", "ran", ""), ("record-arm", "ran", "")]
    record = read_record(url, "quick", "arms", arm.name, arm.identity())
    assert record is not None
    assert record.results == {"scores": Left(f"{url}/scores/1", "b" * 64)}


def test_an_arm_that_the_study_does_not_have_is_told_as_failed_with_the_reason(state, tmp_path, capsys):
    with pytest.raises(SystemExit):
        open_arm("quick", "another", tmp_path.as_uri())
    [(step, status, error)] = lines(state)
    assert (step, status) == ("resolve-arm", "failed")
    assert "another" in error
    assert error in capsys.readouterr().err
