"""Splits by hash: nothing moves when rows do, groups stay whole, and the original's 5:1 tables come out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.data.mixture.groups import joined
from components.data.mixture.splits import least, ranks, resplit, validation

NUMBERS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=60)


@given(NUMBERS, st.floats(0, 1), st.integers(0, 99), st.randoms())
def test_a_row_validates_by_its_group_alone(groups, share, seed, shuffler):
    found = validation(np.array(groups, np.uint64), share, seed=seed)
    mixed = list(range(len(groups)))
    shuffler.shuffle(mixed)
    again = validation(np.array([groups[place] for place in mixed], np.uint64), share, seed=seed)
    assert [bool(found[place]) for place in mixed] == again.tolist()
    for group in set(groups):
        assert len({bool(flag) for flag, own in zip(found, groups, strict=True) if own == group}) == 1


def test_shares_of_many_groups_are_near_what_was_asked():
    groups = np.arange(20_000, dtype=np.uint64)
    for share in (0.02, 0.2, 0.5):
        # Four standard deviations of a binomial count.
        assert abs(validation(groups, share, seed=1).mean() - share) < 4 * (share * (1 - share) / 20_000) ** 0.5
    assert not validation(groups, 0.0, seed=1).any()
    assert (validation(groups, 0.5, seed=1) != validation(groups, 0.5, seed=2)).any()


@pytest.mark.parametrize(
    ("rows", "test"),
    [(7473, 1246), (7500, 1250), (87_599, 14_600), (88_966, 14_828), (164, 27), (427, 71)],
)
def test_five_to_one_as_the_original_tables_have_it(rows, test):
    found = resplit(np.zeros(rows, np.uint8), np.arange(rows, dtype=np.uint64), seed=1)
    assert int(found.sum()) == test


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50, unique=True), st.randoms())
def test_a_resplit_hangs_on_ids_and_not_on_order(ids, shuffler):
    names = np.array([number % 2 for number in ids], np.uint8)
    numbers = np.array(ids, np.uint64)
    chosen = set(numbers[resplit(names, numbers, seed=3)].tolist())
    mixed = list(range(len(ids)))
    shuffler.shuffle(mixed)
    assert set(numbers[mixed][resplit(names[mixed], numbers[mixed], seed=3)].tolist()) == chosen


@given(NUMBERS, st.data())
def test_joined_groups_are_the_connected_ones(groups, data):
    place = st.integers(0, len(groups) - 1)
    links = data.draw(st.lists(st.tuples(place, place), max_size=20))
    found = joined(np.array(groups, np.uint64), np.array(links, np.int64).reshape(-1, 2)).tolist()
    # By repeated relabelling, which needs no trees.
    labels = list(groups)
    for _ in range(len(groups) + 1):
        for one, other in links:
            low, high = sorted((labels[one], labels[other]))
            labels = [low if label == high else label for label in labels]
    assert found == labels


def test_the_least_ranks_are_taken():
    order = ranks(np.arange(10, dtype=np.uint64), seed=1, purpose="x")
    chosen = least(np.arange(10), order, 3)
    assert set(chosen.tolist()) == set(np.argsort(order)[:3].tolist())
    assert len(least(np.arange(2), order, 5)) == 2
