"""What a mixture takes: answers to its test sets, and calls only where a judge is asked."""

import pytest

from components.core.spec import load_experiment
from components.planning.assumptions import Assumptions
from components.planning.calls import samples_of
from components.planning.plan import make_plan
from components.planning.task_sets import answered, judged_share, models_of

JUDGED = [
    "reward=semantic-equality",
    "data.mixture.decided_by={math: both, qa: judge, code: gold}",
]


def test_the_official_sizes_add_up() -> None:
    """GSM8K 1,319, MATH 5,000, SQuAD 2.0 11,873, HotpotQA 7,405, HumanEval 164, MBPP 500."""
    experiment = load_experiment("mixed_qwen25_7b")
    found = answered(experiment)
    assert found.tasks == found.responses == 26_261
    assert found.tokens == 6_319 * 1024 + 19_278 * 128 + 664 * 768
    assert (found.unknown, models_of(experiment)) == ((), 2)


def test_a_limit_is_of_each_set() -> None:
    experiment = load_experiment(
        "mixed_qwen25_7b",
        [
            "evaluation.tasks.limit=200",
            "evaluation.tasks.sets=[gsm8k, humaneval]",
            "evaluation.tasks.temperature=0.5",
            "evaluation.tasks.samples.code=3",
        ],
    )
    found = answered(experiment)
    assert (found.tasks, found.responses) == (364, 200 + 3 * 164)


def test_without_a_judge_there_is_no_call_and_no_judge_to_deploy() -> None:
    plan = make_plan([load_experiment("mixed_qwen25_7b")], Assumptions())
    assert plan.runs[0].work == []
    assert plan.judges == []
    assert plan.problems == []


def test_with_a_judge_the_prompts_of_its_domains_are_asked_about() -> None:
    experiment = load_experiment("mixed_qwen25_7b", JUDGED)
    assert judged_share(experiment) == pytest.approx(0.7)
    # 120 steps x 40 prompts x 8 rollouts; held-out answers have metrics of their own.
    assert (samples_of(experiment).training, samples_of(experiment).scoring) == (26_880, 0)
    plan = make_plan([experiment], Assumptions(again=0.0))
    assert [work.judge.name for work in plan.runs[0].work] == ["qwen3-32b"]
    assert plan.runs[0].work[0].expected.calls == 26_880
    assert [each.judge.name for each in plan.judges] == ["qwen3-32b"]
