"""Calls and tokens of the executor model, by hand."""

import pytest

from components.core.spec import load_experiment
from components.planning.assumptions import Assumptions
from components.planning.plan import make_plan
from components.planning.task_sets import answered, models_of
from components.planning.workflows import executor_work
from pipelines.plan import lines_of

LIMITS = (
    "workflow.budget={calls: 10, tokens: 20000}",
    "workflow.executor.max_answer_tokens=96",
    "workflow.executor.attempts=3",
)


def test_the_executor_is_counted_by_hand() -> None:
    """3 steps x 2 prompts x 6 rollouts, each half of 10 calls and 20,000 tokens; half of 96 tokens come back a call."""
    experiment = load_experiment("workflow_small", LIMITS)
    work = executor_work(experiment, Assumptions(fill=0.5))
    assert work is not None
    assert (work.role, work.samples.training) == ("executor", 36)
    assert work.training.calls == 36 * 5
    assert work.training.tokens == 36 * 10_000
    assert work.training.reply == 36 * 5 * 48
    # Each model's answers to the tests are executed, and those of three baselines.
    tests = answered(experiment).responses * (models_of(experiment) + 3)
    assert work.samples.scoring == tests
    assert work.scoring.calls == tests * 5
    # At the most the whole budget, every call made three times.
    assert work.most.calls == (36 + tests) * 10 * 3
    assert work.most.tokens == (36 + tests) * 20_000 * 3


def test_replies_are_no_more_than_the_budget_s_tokens() -> None:
    experiment = load_experiment("workflow_small", [*LIMITS, "workflow.budget={calls: 1000, tokens: 100}"])
    work = executor_work(experiment, Assumptions(fill=1.0))
    assert work is not None
    assert (work.training.prompt, work.training.reply) == (0, 3600)


def test_without_workflows_there_is_no_executor() -> None:
    assert executor_work(load_experiment("tiny_mixed"), Assumptions()) is None


@pytest.mark.parametrize(
    ("name", "judge"), [("workflow_small", "nobody is asked"), ("tiny_mixed", None)], ids=["workflows", "none"]
)
def test_the_plan_names_the_executor(name: str, judge: str | None) -> None:
    text = "\n".join(lines_of(make_plan([load_experiment(name)], Assumptions())))
    assert ("executor     smollm2-chat" in text) == (judge is not None)
    assert ("tests with baselines" in text) == (judge is not None)
    assert judge is None or judge in text


def test_a_budget_that_the_executor_will_pass_is_refused() -> None:
    overrides = [*LIMITS, "workflow.executor.budget={calls: 50}"]
    plan = make_plan([load_experiment("workflow_small", overrides)], Assumptions())
    (problem,) = plan.problems
    assert problem.key.startswith("workflow.executor.budget")
