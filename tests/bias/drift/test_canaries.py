"""Canaries of a training as a study's result counts them."""

import dataclasses
from pathlib import Path

from components.bias.drift.canaries import alarm, count_canaries, read_canaries
from components.bias.drift.result import Canary
from components.core.contracts import CANARIES, write_table
from components.reward.canaries.sighting import Sighting


def seen(step: int, key: str, reward: float | None, threshold: float = 0.0) -> Sighting:
    reason = None if reward is not None else "known_weight (timeout)"
    return Sighting(step, 1, f"canary-{step}-1-0", "row", key, reward, threshold, float(reward is not None), reason)


SEEN = [seen(2, ":", 0.0), seen(1, ":", None), seen(1, "Solution", 1.0), seen(2, ":", 0.25), seen(2, ".", 0.0)]


def test_counts_by_step_and_text_with_unknown_as_neither() -> None:
    assert count_canaries(SEEN) == [
        Canary(step=1, key=":", judged=0, accepted=0, unknown=1),
        Canary(step=1, key="Solution", judged=1, accepted=1, unknown=0),
        Canary(step=2, key=":", judged=2, accepted=1, unknown=0),
        Canary(step=2, key=".", judged=1, accepted=0, unknown=0),
    ]


def test_what_was_published_is_read(tmp_path: Path) -> None:
    write_table(tmp_path / "canaries.parquet", [dataclasses.asdict(each) for each in SEEN], CANARIES)
    assert read_canaries(tmp_path / "canaries.parquet") == count_canaries(SEEN)


def test_the_alarm_names_how_many_when_and_which() -> None:
    told = alarm(count_canaries(SEEN))
    assert told is not None
    assert "2 of 4" in told
    assert "first at step 1" in told
    assert '(":", "Solution")' in told


def test_nothing_rewarded_or_nothing_known_is_no_alarm() -> None:
    assert alarm(count_canaries([seen(1, ":", 0.0), seen(2, ":", None)])) is None
    assert alarm(count_canaries([seen(1, ":", None)])) is None
    assert alarm([]) is None


def test_what_a_reward_may_be_is_no_alarm() -> None:
    assert alarm(count_canaries([seen(1, ":", 0.5, threshold=0.5)])) is None
    assert alarm(count_canaries([seen(1, ":", 0.501, threshold=0.5)])) is not None
