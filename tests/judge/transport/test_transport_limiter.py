"""The limit of calls under way; expected values by hand from the rule in :class:`Limiter`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.transport.limiter import Limiter


def test_it_begins_at_the_most_and_stays_there() -> None:
    limiter = Limiter(10)
    for second in range(30):
        limiter.good(float(second), second + 0.5)
    assert limiter.limit == 10


def test_a_refusal_takes_three_tenths() -> None:
    limiter = Limiter(100)
    seen = []
    for second in range(1, 6):
        limiter.pressed(float(second), second + 0.5)
        seen.append(limiter.limit)
    # 70, 49, 34.3, 24.01, 16.807
    assert seen == [70, 49, 34, 24, 16]


def test_one_round_trip_counts_once() -> None:
    limiter = Limiter(100)
    for _ in range(50):
        limiter.pressed(1.0, 2.0)
    assert limiter.limit == 70
    limiter.pressed(1.9, 3.0)
    assert limiter.limit == 70
    limiter.pressed(2.0, 3.0)
    assert limiter.limit == 49


def test_a_window_of_good_replies_adds_one() -> None:
    limiter = Limiter(10)
    limiter.pressed(1.0, 2.0)
    assert limiter.limit == 7
    seen = []
    for reply in range(1, 25):
        limiter.good(2.0 + reply, 3.0 + reply)
        seen.append(limiter.limit)
    # Seven replies for the eighth permit, eight for the ninth, nine for the tenth.
    assert seen == [7] * 6 + [8] * 8 + [9] * 9 + [10]


def test_replies_to_calls_from_before_the_fall_add_nothing() -> None:
    limiter = Limiter(10)
    limiter.pressed(1.0, 2.0)
    for _ in range(100):
        limiter.good(1.5, 2.5)
    assert limiter.limit == 7


def test_after_a_storm_it_returns_to_where_the_first_fall_left_it() -> None:
    limiter = Limiter(100)
    for second in range(1, 30):
        limiter.pressed(float(second), second + 0.5)
    assert limiter.limit == 1
    for reply in range(69):
        limiter.good(100.0 + reply, 100.5 + reply)
    assert limiter.limit == 70
    for reply in range(69):
        limiter.good(200.0 + reply, 200.5 + reply)
    assert limiter.limit == 70
    limiter.good(300.0, 300.5)
    # A 25th of 70 is 2.8.
    assert limiter.limit == 72


def test_a_slow_reply_counts_as_a_refusal() -> None:
    limiter = Limiter(10, latency_target=2.0)
    limiter.good(0.0, 2.0)
    assert limiter.limit == 10
    limiter.good(1.0, 3.1)
    assert limiter.limit == 7


def test_beyond_where_it_fell_from_it_doubles_its_steps() -> None:
    limiter = Limiter(64)
    limiter.pressed(0.0, 0.5)
    for time in (1.0, 2.0, 3.0):
        limiter.good(time, time)
        limiter.pressed(time, time + 0.5)
    # 64, 44.8, 31.36, 21.952, 15.3664: the last fall was from 21.952.
    assert limiter.limit == 15
    seen, time = [limiter.limit], 4.0
    while limiter.limit < 64:
        time += 1.0
        limiter.good(time, time)
        if limiter.limit != seen[-1]:
            seen.append(limiter.limit)
    # By one up to 22.3664, then by 1, 2, 4, 8, 16 and what is left.
    assert seen == [15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 29, 37, 53, 64]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_it_never_falls_below_one(most: int) -> None:
    limiter = Limiter(most)
    for second in range(100):
        limiter.pressed(float(second), second + 0.5)
    assert limiter.limit == 1


@given(st.integers(1, 50), st.lists(st.tuples(st.booleans(), st.floats(0, 5), st.floats(0, 5)), max_size=200))
def test_it_stays_between_one_and_the_most(most: int, events: list[tuple[bool, float, float]]) -> None:
    limiter, time = Limiter(most, latency_target=3.0), 0.0
    for good, step, lasted in events:
        time += step
        before = limiter.limit
        (limiter.good if good else limiter.pressed)(time - lasted, time)
        assert 1 <= limiter.limit <= most
        assert good or limiter.limit <= before
