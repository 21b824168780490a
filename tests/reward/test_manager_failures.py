"""verl takes an exception for one lost sample. Only an abstention may be one."""

import json
from pathlib import Path

import pytest

pytest.importorskip("verl")
from components.core.errors import JudgeError
from components.reward.abstain_guard import AbstainGuard
from components.reward.verl_manager import AbstainedError, GavelRewardManager


def manager(tmp_path: Path, failure: Exception) -> GavelRewardManager:
    made = object.__new__(GavelRewardManager)
    held: list[float] = []

    async def sleep(seconds: float) -> None:
        # By then the step that watches has been told.
        assert (tmp_path / "fatal.json").exists()
        held.append(seconds)

    made._guard = AbstainGuard(
        0.2, tmp_path / "fatal.json", judge="j", pause_seconds=0, unpaid=lambda: JudgeError(""), sleep=sleep
    )

    async def fail(data: object) -> dict[str, object]:
        raise failure

    made._judge_last = fail
    return made


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (OSError(28, "No space left on device"), "No space left"),
        (KeyError("rubric"), "KeyError"),
        (JudgeError("the ledger cannot be written"), "the ledger cannot be written"),
    ],
)
async def test_whatever_else_goes_wrong_stops_the_run(tmp_path: Path, failure: Exception, text: str):
    with pytest.raises(type(failure)):
        await manager(tmp_path, failure).run_single(None)
    assert text in json.loads((tmp_path / "fatal.json").read_text())["what"]


async def test_an_abstained_sample_does_not(tmp_path: Path):
    with pytest.raises(AbstainedError):
        await manager(tmp_path, AbstainedError("timeout")).run_single(None)
    assert not (tmp_path / "fatal.json").exists()
