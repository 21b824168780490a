"""Beginnings that prompts have in common: which are kept, and that answers do not depend on it."""

import itertools
import random
from pathlib import Path

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM

from components.judge.server.engine import Engine
from components.judge.server.jobs import Job
from components.judge.server.sharing import cut, shared_prefixes

SYSTEM, ONE, OTHER = tuple(range(20)), tuple(range(100, 130)), tuple(range(200, 230))


def test_a_judge_that_is_asked_criterion_by_criterion_reads_each_response_once() -> None:
    prompts = [SYSTEM + text + (500 + criterion, 900) for text in (ONE, OTHER) for criterion in range(4)]
    kept = shared_prefixes(prompts)
    assert [(each.ids, each.parent, each.level) for each in kept] == [
        (SYSTEM, 0, 0),
        (SYSTEM + ONE, 20, 1),
        (SYSTEM + OTHER, 20, 1),
    ]
    assert cut(prompts[0], kept) == 50
    # Of 8 x 52 tokens: 20 + 2 x 30 in beginnings and 8 x 2 behind them.
    assert sum(len(each.ids) - each.parent for each in kept) + sum(len(p) - cut(p, kept) for p in prompts) == 96


def test_one_prompt_or_the_same_twice_shares_nothing() -> None:
    assert shared_prefixes([SYSTEM]) == []
    assert shared_prefixes([SYSTEM, SYSTEM]) == []


def alike(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12).map(tuple), min_size=1, max_size=12),
    st.integers(1, 4),
)
@example([(1,), (1, 0), (1, 0, 0), (1, 1, 0), (1, 1)], 1)
def test_what_two_prompts_share_is_kept_but_for_less_than_is_worth_it(prompts, least):
    kept = shared_prefixes(prompts, least)
    known = {()}
    for each in kept:
        assert each.ids[: each.parent] in known
        assert len(each.ids) - each.parent >= least
        assert sum(prompt[: len(each.ids)] == each.ids for prompt in set(prompts)) >= 2
        known.add(each.ids)
    assert len(known) == len(kept) + 1
    for one, other in itertools.combinations(sorted(set(prompts)), 2):
        common = min(alike(one, other), len(one) - 1, len(other) - 1)
        both = [each.ids for each in kept if each.ids == one[: len(each.ids)] == other[: len(each.ids)]]
        found = max(map(len, both), default=0)
        assert common - found <= least
    for prompt in prompts:
        assert cut(prompt, kept) < len(prompt)


def greedy(folder: Path, ids: tuple[int, ...], tokens: int) -> list[int]:
    """By transformers alone, one prompt, no cache."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    found: list[int] = []
    with torch.no_grad():
        for _ in range(tokens):
            found.append(int(model(input_ids=torch.tensor([[*ids, *found]]), use_cache=False).logits[0, -1].argmax()))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_texts_are_the_same_with_beginnings_kept(engine: Engine, model_folder: Path, seed: int) -> None:
    dice = random.Random(seed)

    def some(size: int) -> tuple[int, ...]:
        return tuple(dice.randrange(3, 1024) for _ in range(size))

    system, texts = some(25), [some(dice.randrange(18, 40)) for _ in range(3)]
    asked = [
        Job(system + text + some(dice.randrange(1, 9)), None, max_tokens=4, temperature=0.0, ignore_eos=True)
        for text in texts
        for _ in range(3)
    ]
    asked += [Job(some(30), None, max_tokens=4, temperature=0.0, ignore_eos=True)]
    assert engine.model.reuse
    for job, answer in zip(asked, engine.answer(asked), strict=True):
        assert list(answer.ids) == greedy(model_folder, job.ids, 4)
    for text in texts:
        assert system + text in engine.model.prefixes
