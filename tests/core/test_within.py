"""A limit on the whole of some work."""

import threading

import pytest

from components.core.within import within


class OddError(BaseException):
    """None of the usual ones."""


def test_what_comes_in_time_is_handed_on() -> None:
    assert within(30.0, lambda: 7) == 7

    def fail() -> None:
        raise OddError("as it is")

    with pytest.raises(OddError, match="as it is"):
        within(30.0, fail)


def test_what_does_not_end_is_left_to_itself() -> None:
    over, before = threading.Event(), set(threading.enumerate())
    with pytest.raises(TimeoutError):
        within(0.05, over.wait)
    [left] = set(threading.enumerate()) - before
    assert left.daemon
    over.set()
    left.join(10)
    assert not left.is_alive()
