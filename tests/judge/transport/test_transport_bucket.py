"""Rates: never more than the limit in any minute, counted naively, and close to it when pressed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.judge.transport.bucket import Bucket


def taken(bucket: Bucket, costs: list[float], gaps: list[float]) -> list[tuple[float, float]]:
    """(time, cost) of callers who come one after the other, each after a gap and then as soon as it may."""
    time, found = 0.0, []
    for cost, gap in zip(costs, gaps, strict=True):
        time += gap
        while (wait := bucket.wait(cost, time)) > 0.0:
            time += max(wait, 1e-6)
        bucket.take(cost, time)
        found.append((time, cost))
    return found


def most_in_a_minute(found: list[tuple[float, float]]) -> float:
    """The fullest window [t, t + 60), for every t at which one begins."""
    return max(sum(cost for time, cost in found if begin <= time < begin + 60.0) for begin, _ in found)


COMERS = st.lists(st.floats(0, 3) | st.floats(0, 100), min_size=1, max_size=150)


@given(st.integers(1, 300), COMERS)
@example(60, [0.0] * 150)
@example(7, [0.0] * 30)
@example(100, [0.0, 59.0, *[0.0] * 120])
def test_never_more_calls_than_the_limit_in_any_minute(per_minute: int, gaps: list[float]) -> None:
    found = taken(Bucket(per_minute, 0.0), [1.0] * len(gaps), gaps)
    assert most_in_a_minute(found) <= per_minute


@given(st.integers(600, 100_000), st.lists(st.tuples(st.floats(0.001, 0.6), st.floats(0, 20)), min_size=1, max_size=80))
@example(6000, [(0.18, 0.0)] * 30)
@example(6000, [(0.6, 0.0)] * 10)
@example(1000, [(0.5, 0.0)] * 10)
def test_never_more_tokens_than_the_limit_in_any_minute(per_minute: int, comers: list[tuple[float, float]]) -> None:
    """Also where one call takes far more than the bucket holds."""
    costs = [float(max(1, int(part * per_minute))) for part, _ in comers]
    found = taken(Bucket(per_minute, 0.0), costs, [gap for _, gap in comers])
    assert most_in_a_minute(found) <= per_minute + 1.0


@pytest.mark.parametrize(("per_minute", "cost"), [(60, 1), (600, 1), (100_000, 4000), (100_000, 12_000), (90, 1)])
def test_callers_that_press_get_nine_tenths_of_it(per_minute: int, cost: int) -> None:
    count = 10 * per_minute // cost
    found = taken(Bucket(per_minute, 0.0), [float(cost)] * count, [0.0] * count)
    assert count * cost / (found[-1][0] / 60.0) >= 0.9 * per_minute


def test_a_call_above_the_limit_is_made_all_the_same() -> None:
    found = taken(Bucket(100, 0.0), [500.0, 10.0], [0.0, 0.0])
    assert found[0][0] == 0.0
    assert found[1][0] >= 60.0


def test_what_was_not_used_is_there_again() -> None:
    bucket = Bucket(6000, 0.0)
    bucket.take(200.0, 0.0)
    assert bucket.wait(100.0, 0.0) > 0.0
    bucket.take(-150.0, 0.0)
    assert bucket.wait(100.0, 0.0) == 0.0


def test_giving_back_makes_no_more_than_was_taken() -> None:
    bucket = Bucket(60, 0.0)
    for _ in range(50):
        bucket.take(-1.0, 0.0)
    found = taken(bucket, [1.0] * 100, [0.0] * 100)
    assert most_in_a_minute(found) <= 60


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = Bucket(60, 100.0)
    bucket.take(2.0, 100.0)
    assert bucket.wait(1.0, 50.0) > 0.0
