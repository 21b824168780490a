"""What people are told to change when a call fails."""

import pytest
from judge_servers import spec

from components.judge.failures import Failure
from components.judge.profiles import profile_for
from components.judge.remedies import remedy
from components.judge.verdict import UnknownReason

URL = "http://127.0.0.1:9"


def told(reason: UnknownReason, **changes: object) -> str:
    judge = spec(**changes)
    return remedy(Failure(reason, "what happened"), judge, profile_for(judge, URL))


def test_too_long_is_not_mended_by_a_longer_reply() -> None:
    long, cut = told(UnknownReason.TOO_LONG), told(UnknownReason.TRUNCATED)
    assert "lower max_answer_tokens" in long
    assert "longer context_tokens" in long
    assert "raise" not in long
    assert "raise max_answer_tokens" in cut


@pytest.mark.parametrize(
    ("profile", "thinking", "switch"),
    [("vllm", None, True), ("vllm", True, True), ("vllm", False, False), ("generic", None, False)],
)
def test_little_mass_names_the_switch_only_where_there_is_one(
    profile: str, thinking: bool | None, switch: bool
) -> None:
    low = told(UnknownReason.LOW_MASS, profile=profile, thinking=thinking)
    assert "lower reward.min_mass" in low
    assert ("thinking: false" in low) is switch
