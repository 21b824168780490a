"""The guard that stops a run whose judge has stopped judging."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import JudgeError
from components.reward.abstain_guard import MINIMUM, WINDOW, AbstainGuard


def test_a_dead_judge_stops_the_run_with_its_reasons(tmp_path: Path):
    guard = AbstainGuard(0.2, tmp_path / "fatal.json")
    for _ in range(MINIMUM - 1):
        guard.note(abstained=True, reason="judge_down", judge="j")
    assert not (tmp_path / "fatal.json").exists()
    with pytest.raises(JudgeError, match=rf"could not judge {MINIMUM} of the newest {MINIMUM}"):
        guard.note(abstained=True, reason="judge_down", judge="j")
    assert "judge_down 16" in json.loads((tmp_path / "fatal.json").read_text())["what"]


def test_a_rate_at_the_limit_goes_on(tmp_path: Path):
    guard = AbstainGuard(0.25, tmp_path / "fatal.json")
    for number in range(200):
        guard.note(abstained=number % 4 == 3, reason="timeout", judge="j")
    assert not (tmp_path / "fatal.json").exists()


@given(st.lists(st.booleans(), max_size=300), st.floats(0, 0.9))
def test_it_stops_exactly_when_the_share_of_the_window_is_above_the_limit(marks: list[bool], limit: float):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        guard = AbstainGuard(limit, Path(folder) / "fatal.json")
        for number, mark in enumerate(marks, 1):
            window = marks[max(0, number - WINDOW) : number]
            too_many = len(window) >= MINIMUM and sum(window) > limit * len(window)
            if too_many:
                with pytest.raises(JudgeError):
                    guard.note(abstained=mark, reason="r", judge="j")
                return
            guard.note(abstained=mark, reason="r", judge="j")
