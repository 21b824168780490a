"""What a training publishes of its canaries, and that the policy's tables have nothing of them."""

from pathlib import Path

from components.core.contracts import CANARIES, VERDICTS, read_table
from components.judge.memory import Entry
from components.reward.canaries.log import CanaryLog
from components.reward.canaries.sighting import Sighting
from components.train.canaries import publish_canaries
from components.train.keeper import _LOGS


def entry(sample_id: str) -> Entry:
    return Entry(sample_id, "r", "c", 0, "met", 0.9, None, None, "j", "p/1", 1, 0.1, 7, 1, None, 1.0)


def seen(step: int, attempt: int, place: int, reward: float | None) -> Sighting:
    name = f"canary-{step}-{attempt}-{place}"
    return Sighting(step, attempt, name, "r", ":", reward, 0.0, 1.0, None if reward is not None else "known_weight")


def test_tables_and_counts(tmp_path: Path) -> None:
    log = CanaryLog(tmp_path / "rollouts.sqlite")
    # Step 2 was done again: of its first attempt the judge's verdicts stay, as for rollouts, and the canaries do not.
    for each in (seen(1, 1, 0, 0.0), seen(2, 1, 0, 1.0), seen(2, 2, 0, 0.5), seen(2, 2, 1, None)):
        log.append(each)
    log.close()
    names = ["1-1-r-0", "canary-1-1-0", "canary-2-1-0", "2-2-r-0", "canary-2-2-0"]
    policy, counts = publish_canaries(
        tmp_path / "rollouts.sqlite", {1: 0, 2: 1}, [entry(name) for name in names], tmp_path
    )
    assert [each.sample_id for each in policy] == ["1-1-r-0", "2-2-r-0"]
    assert counts == {"canaries": 3, "canaries_rewarded": 1, "canaries_unknown": 1}
    rows = read_table(tmp_path / "canaries.parquet", CANARIES).to_pylist()
    assert [(row["sample_id"], row["reward"]) for row in rows] == [
        ("canary-1-1-0", 0.0),
        ("canary-2-2-0", 0.5),
        ("canary-2-2-1", None),
    ]
    theirs = read_table(tmp_path / "canary_verdicts.parquet", VERDICTS).column("sample_id").to_pylist()
    assert theirs == ["canary-1-1-0", "canary-2-1-0", "canary-2-2-0"]


def test_checkpoints_that_are_kept_elsewhere_have_their_table() -> None:
    """It is in the database of rollouts, which the keeper copies."""
    assert "rollouts.sqlite" in _LOGS
