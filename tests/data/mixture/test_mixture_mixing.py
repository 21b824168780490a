"""Counts of a mixture, against the published figures and the rules they follow."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.data.mixture.mixing import filled, largest_remainder, planned, shares, without_repetition

MIX = {"math": 4, "qa": 3, "code": 3}
WEIGHTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), min_size=1).filter(lambda w: any(w.values()))


@given(st.integers(0, 5000), WEIGHTS)
def test_largest_remainder_sums_up_and_stays_within_one_of_the_quota(total, weights):
    counts = largest_remainder(total, weights)
    whole = sum(weights.values())
    assert sum(counts.values()) == total
    for key, count in counts.items():
        assert abs(count - Fraction(total * weights[key], whole)) < 1


@given(st.integers(0, 500), WEIGHTS, st.data())
def test_no_key_gets_more_than_its_room_and_nothing_is_lost(total, weights, data):
    room = {key: data.draw(st.integers(0, 200)) for key in weights}
    counts = filled(total, weights, room)
    assert all(0 <= counts[key] <= room[key] for key in weights)
    usable = sum(room[key] for key in weights if weights[key] > 0)
    assert sum(counts.values()) == min(total, usable)
    assert all(counts[key] == 0 for key in weights if weights[key] == 0)


@given(
    st.integers(0, 300),
    st.dictionaries(st.sampled_from(list(MIX)), st.lists(st.integers(1, 40), min_size=1, max_size=3), min_size=1),
    st.integers(1, 4),
    st.booleans(),
)
def test_plans_keep_the_cap(total, sizes, cap, by_size):
    sets = {domain: {f"{domain}{n}": rows for n, rows in enumerate(found)} for domain, found in sizes.items()}
    counts = planned(total, MIX, sets, by_size=by_size, cap=cap)
    flat = {name: rows for found in sets.values() for name, rows in found.items()}
    assert counts.keys() == flat.keys()
    assert all(counts[name] <= cap * rows for name, rows in flat.items())
    assert sum(counts.values()) == min(total, cap * sum(flat.values()))


@pytest.mark.parametrize(
    ("sizes", "counts"),
    [((12_500, 148_276, 712), (949, 711, 711)), ((2_500, 29_656, 142), (189, 141, 141))],
)
def test_the_original_mixtures_follow_from_the_smallest_domain(sizes, counts):
    found = without_repetition(dict(zip(MIX, sizes, strict=True)), MIX)
    assert tuple(found.values()) == counts


def test_ten_batches_of_four():
    assert largest_remainder(40, MIX) == {"math": 16, "qa": 12, "code": 12}


def test_four_repeats_of_474_code_rows_make_6320():
    sets = {"math": {"gsm8k": 7473, "math": 7500}, "qa": {"squad2": 130_319, "hotpotqa": 90_447}, "code": {"mbpp": 474}}
    counts = planned(6320, MIX, sets, by_size=False, cap=4)
    assert counts == {"gsm8k": 1264, "math": 1264, "squad2": 948, "hotpotqa": 948, "mbpp": 1896}
    # One prompt more, and code has none left to give: the others take it.
    assert planned(6330, MIX, sets, by_size=False, cap=4)["mbpp"] == 1896


def test_what_a_set_cannot_give_its_sibling_gives():
    sets = {"code": {"humaneval": 10, "mbpp": 100}}
    assert planned(60, {"code": 3}, sets, by_size=False, cap=1) == {"humaneval": 10, "mbpp": 50}


def test_shares_within_a_domain():
    sets = {"math": {"gsm8k": 100, "math": 300}, "qa": {"squad2": 10, "hotpotqa": 0}, "code": {}}
    equal = shares(MIX, sets, by_size=False)
    assert equal == {"gsm8k": Fraction(2, 7), "math": Fraction(2, 7), "squad2": Fraction(3, 7)}
    assert shares(MIX, sets, by_size=True)["math"] == Fraction(3, 7)
