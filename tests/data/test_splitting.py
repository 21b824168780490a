import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ConfigError
from components.data.item import Item
from components.data.splitting import check_disjoint, split_items
from components.gold.checks import GoldChecks
from components.judge.verdict import Criterion

SEEDS = st.integers(0, 2**31 - 1)


def item(question: str, template: str) -> Item:
    return Item(question, template, (Criterion("is polite"),), GoldChecks())


@st.composite
def item_lists(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=12))
    return [
        item(f"question {group}-{place}", f"template {group}")
        for group, size in enumerate(sizes)
        for place in range(size)
    ]


@given(items=item_lists(), seed=SEEDS)
def test_a_split_shares_no_template_and_loses_nothing(items, seed):
    train, heldout = split_items(items, train_rows=1, heldout_rows=1, seed=seed)
    assert len(train) == len(heldout) == 1
    check_disjoint(train, heldout)
    largest = max(sum(other.template == one.template for other in items) for one in items)
    train, heldout = split_items(items, train_rows=len(items) - largest, heldout_rows=1, seed=seed)
    assert len(train) == len(items) - largest
    check_disjoint(train, heldout)


@given(items=item_lists(), seed=SEEDS, order=st.randoms(use_true_random=False))
def test_the_order_of_the_file_decides_nothing(items, seed, order: random.Random):
    shuffled = list(items)
    order.shuffle(shuffled)
    assert split_items(items, train_rows=1, heldout_rows=1, seed=seed) == split_items(
        shuffled, train_rows=1, heldout_rows=1, seed=seed
    )


def test_another_seed_gives_another_split():
    items = [item(f"question {number}", f"template {number}") for number in range(100)]
    splits = [split_items(items, train_rows=50, heldout_rows=50, seed=seed)[1] for seed in (1, 2)]
    assert 10 < len({one.question for one in splits[0]} & {one.question for one in splits[1]}) < 40


def test_too_few_prompts_say_what_there_is():
    items = [item(f"question {number}", f"template {number % 2}") for number in range(10)]
    with pytest.raises(ConfigError, match=r"train_rows=6 .* give 5 and 5"):
        split_items(items, train_rows=6, heldout_rows=4, seed=0, where="mine.jsonl")


@pytest.mark.parametrize(("question", "template"), [("question 1", "new"), ("new", "template 1")])
def test_what_both_splits_share_is_named(question, template):
    with pytest.raises(ConfigError, match="in both splits"):
        check_disjoint([item("question 1", "template 1")], [item(question, template)])
