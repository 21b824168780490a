"""Which models are told not to be pinned."""

import pytest

from components.core.spec import load_experiment
from components.planning.pins import loose_models

LOOSE = "{kind: hub, repo: a/b, revision: main}"


@pytest.mark.parametrize("name", ["verinstruct_rl", "verinstruct_rl_qwen3", "mixed_qwen25_7b", "mixed_qwen3_8b"])
def test_shipped_studies_are_pinned(name: str) -> None:
    assert loose_models(load_experiment(name)) == []


def test_policy_and_judge_by_a_branch_or_a_short_commit_are_told() -> None:
    found = loose_models(
        load_experiment(
            "verinstruct_rl",
            [f"policy.source={LOOSE}", "judge.source={kind: hub, repo: c/d, revision: b968826}"],
        )
    )
    assert len(found) == 2
    assert found[0].startswith("policy qwen2.5-7b is not pinned: a/b at 'main'")
    assert found[1].startswith("judge qwen3-32b is not pinned: c/d at 'b968826'")


def test_a_judge_that_is_not_asked_and_one_served_elsewhere_do_not_count() -> None:
    judge = f"judge.source={LOOSE}"
    assert loose_models(load_experiment("mixed_qwen25_7b", [judge])) == []
    external = ["judge.serving=external", "judge.endpoint=http://judge.example.org:8000"]
    assert loose_models(load_experiment("verinstruct_rl", [judge, *external])) == []
