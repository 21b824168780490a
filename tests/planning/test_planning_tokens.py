"""Tokens and cost of a judge, by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

import components.judge.protocols
from components.core.spec import Experiment
from components.planning.assumptions import Assumptions
from components.planning.tokens import work_of

PROMPTS = Path(components.judge.protocols.__file__).parent / "prompts"


def test_tokens_by_hand(chat: Callable[..., Experiment]) -> None:
    """A prompt is template + criterion at 4 characters a token, and half of question 64 and response 16; 50 of at most
    100 tokens come back; 48 rollouts and 32 held-out responses; one criterion each."""
    experiment = chat()
    work = work_of(experiment, experiment.judge, Assumptions(again=0.0))
    letters = len((PROMPTS / "rubric_per_criterion.txt").read_bytes()) + len("mentions an animal")
    prompt = letters / 4 + 0.5 * (64 + 16)
    assert work.expected.calls == 80
    assert work.training.prompt == pytest.approx(48 * prompt)
    assert work.expected.prompt == pytest.approx(80 * prompt)
    assert work.expected.reply == 80 * 50
    # At the most: full lengths, each reply asked for twice, each call made three times.
    assert work.most.calls == 80 * 2 * 3
    assert work.most.reply == 80 * 2 * 3 * 100
    assert work.most.prompt == pytest.approx(80 * 2 * 3 * (letters / 4 + 64 + 16))


def test_cost_by_hand(chat: Callable[..., Experiment]) -> None:
    experiment = chat("judge.price={prompt: 2.0, completion: 6.0}")
    work = work_of(experiment, experiment.judge, Assumptions(again=0.0))
    assert work.expected.prompt is not None
    assert work.expected.cost(experiment.judge) == pytest.approx((work.expected.prompt * 2 + 4000 * 6) / 1e6)
    assert work.expected.cost(chat().judge) is None


def test_a_token_is_a_token_and_a_likelihood_ratio_writes_none(chat: Callable[..., Experiment]) -> None:
    token = chat("reward={use: rubric-token}")
    assert work_of(token, token.judge, Assumptions(again=0.3)).expected.reply == 80
    ratio = chat("reward={use: likelihood-ratio}")
    found = work_of(ratio, ratio.judge, Assumptions())
    assert found.expected.reply == 0
    # Two prompts a call: with the criterion, and without.
    one = work_of(ratio, ratio.judge, Assumptions()).training.prompt
    two = chat("reward={use: likelihood-ratio}", "data.criteria=[{text: mentions an animal}, {text: is about an ant}]")
    more = work_of(two, two.judge, Assumptions()).training.prompt
    assert one is not None
    assert more == pytest.approx(one * 3 / 2)


def test_unknown_criteria_leave_tokens_unknown() -> None:
    from components.core.spec import load_experiment

    experiment = load_experiment("tiny_verinstruct_rl", ["reward={use: rubric-per-criterion}"])
    found = work_of(experiment, experiment.judge, Assumptions())
    assert (found.expected.calls, found.expected.tokens, found.most.tokens) == (None, None, None)
    assert work_of(experiment, experiment.judge, Assumptions(criteria=2)).expected.tokens is not None
