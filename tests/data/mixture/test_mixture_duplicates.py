"""Duplicates, against plain Python over words and sets."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.data.mixture.buckets import Buckets
from components.data.mixture.codetree import tree_number
from components.data.mixture.duplicates import by_number, by_runs
from components.data.mixture.stage import Index
from components.data.mixture.words import ngrams, normalised

WORDS = st.lists(st.sampled_from(["a", "B", "c", "Dé", "7", "x-y", "…"]), max_size=12).map(" ".join)


def runs_of(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def index_of(test: list[bool], **columns: list[int]) -> Index:
    rows = len(test)
    ids = np.arange(1, rows + 1, dtype=np.uint64)
    flags = np.array(test)
    values = {name: np.array(columns.get(name, ids), np.uint64) for name in ("text", "tree", "group")}
    return Index(np.zeros(rows, np.uint8), flags, flags.copy(), ids, **values)


def compared(tmp_path, texts, test, length, groups_only=None):
    buckets = Buckets(tmp_path / "runs")
    runs, owners = ngrams(texts, length)
    buckets.add(runs, owners)
    buckets.close()
    index = index_of(test)
    none = np.zeros(len(test), bool)
    return by_runs(buckets, index, ~none, np.arange(len(test)), none if groups_only is None else groups_only)


@given(st.lists(WORDS, max_size=6), st.integers(1, 4))
def test_runs_are_those_of_plain_python(texts, length):
    runs, owners = ngrams(texts, length)
    for one in range(len(texts)):
        assert len(set(runs[owners == one].tolist())) == len(runs_of(texts[one], length))
        for other in range(len(texts)):
            shared = set(runs[owners == one].tolist()) & set(runs[owners == other].tolist())
            assert len(shared) == len(runs_of(texts[one], length) & runs_of(texts[other], length))


@settings(max_examples=40)
@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=7))
def test_rows_across_splits_share_no_run_afterwards(tmp_path_factory, rows):
    texts, test = [text for text, _ in rows], [flag for _, flag in rows]
    found = compared(tmp_path_factory.mktemp("d"), texts, test, 2)
    tested = set().union(*(runs_of(text, 2) for text, flag in rows if flag)) if any(test) else set()
    for place, (text, flag) in enumerate(rows):
        assert bool(found.across[place]) == (not flag and bool(runs_of(text, 2) & tested))
    kept = [place for place in range(len(rows)) if not test[place] and not found.across[place]]
    seen: set[tuple[str, ...]] = set()
    for place in kept:
        mine = runs_of(texts[place], 2)
        assert bool(found.within_train[place]) == (bool(mine & seen) and len(mine & seen) >= len(mine) / 2)
        seen |= mine


def test_nearly_equal_questions_share_a_split_instead(tmp_path):
    texts = ["who built the old bridge", "who built the old tower", "when was it"]
    found = compared(tmp_path, texts, [False] * 3, 3, groups_only=np.ones(3, bool))
    assert not found.within_train.any()
    assert found.links.tolist() == [[0, 1]]


def test_a_turn_of_phrase_makes_no_group(tmp_path):
    texts = [f"find the value of x where {number} holds for sure {number + 100}" for number in range(30)]
    assert len(compared(tmp_path, texts, [False] * 30, 4).links) == 0


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_equal_numbers_leave_one_in_training_and_none_that_a_test_has(rows):
    numbers = np.array([number for number, _, _ in rows], np.uint64)
    index = index_of([test for _, test, _ in rows])
    alive = np.array([here for _, _, here in rows])
    found = by_number(numbers, index, alive, np.arange(len(rows))[::-1].copy())
    for number in {int(number) for number in numbers}:
        mine = alive & (numbers == number)
        train, test = mine & ~index.test, mine & index.test
        if number == 0:
            assert not (found.across | found.within_train | found.within_test)[mine].any()
            continue
        assert found.across[train].all() == (bool(test.any()) or not train.any())
        left = train & ~found.across & ~found.within_train
        assert int(left.sum()) == (0 if test.any() else min(1, int(train.sum())))
        assert int(found.within_test[test].sum()) == max(0, int(test.sum()) - 1)


def test_case_and_space_do_not_count_and_signs_do():
    assert normalised("What  IS\n2+2?") == normalised("what is 2+2?")
    assert normalised("what is 2-2?") != normalised("what is 2+2?")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("def f(a):\n    return a + 1", 'def g(b):\n    """Add."""\n\n    return b+1  # one', True),
        ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a", False),
        ("def f(a):\n    return len(a)", "def f(a):\n    return sum(a)", False),
        ("x = [n for n in y]", "z = [k for k in y]", True),
        ("def f(a):\n    return a + 1", "def f(a):\n    return a + 2", False),
        ("import math as m\nm.pi", "import math as q\nq.pi", True),
    ],
)
def test_programs_are_compared_by_their_trees(one, other, same):
    assert (tree_number(one) == tree_number(other)) == same


@pytest.mark.parametrize("text", ["", "def f(:", "x" * 200_000, "(" * 5000, "\x00"])
def test_what_is_no_program_is_compared_with_nothing(text):
    assert tree_number(text) == 0
