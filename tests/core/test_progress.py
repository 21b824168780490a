"""Progress lines: what they say and when they come."""

import io
import threading

import pytest

from components.core.progress import Progress, clock_text, size_text


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def made(total: int | None, unit: str = "step", **more: object) -> tuple[Progress, Clock, io.StringIO]:
    clock, stream = Clock(), io.StringIO()
    return Progress("train-grpo", total, unit, stream=stream, clock=clock, **more), clock, stream  # type: ignore[arg-type]


def lines(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_line_has_count_share_times_and_note() -> None:
    progress, clock, stream = made(20)
    for _ in range(7):
        clock.now += 10
        progress.advance(1, "reward 0.71")
    # 7 of 20 in 70 s: 13 left at 10 s each.
    assert lines(stream)[-1] == "[train-grpo] step 7/20  35 %  elapsed 1:10  left 2:10  reward 0.71"


def test_a_first_step_with_the_start_up_in_it_does_not_count_for_the_rate() -> None:
    progress, clock, stream = made(10, done=5)
    clock.now += 300
    progress.advance(1, typical=False)
    clock.now += 30
    progress.advance(1)
    # 300 s were start-up; 3 of 10 are left at 30 s each.
    assert lines(stream) == [
        "[train-grpo] step 6/10  60 %  elapsed 5:00",
        "[train-grpo] step 7/10  70 %  elapsed 5:30  left 1:30",
    ]


def test_prints_at_most_every_interval_and_always_at_the_end() -> None:
    progress, clock, stream = made(100)
    for _ in range(100):
        clock.now += 0.1
        progress.advance()
    # 10 s of work, a line every 2 s: at 2, 4, 6, 8 and 10 s, give or take the rounding of 0.1.
    assert 4 <= len(lines(stream)) <= 6
    assert lines(stream)[-1] == "[train-grpo] step 100/100  100 %  elapsed 0:10"


def test_end_is_printed_once() -> None:
    progress, _, stream = made(3)
    progress.advance(3)
    progress.finish()
    assert len(lines(stream)) == 1


def test_unknown_total_shows_neither_share_nor_time_left() -> None:
    progress, clock, stream = made(None, "row")
    clock.now += 65
    progress.advance(41)
    assert lines(stream) == ["[train-grpo] row 41  elapsed 1:05"]
    assert progress.eta() is None


def test_rate_follows_the_last_minute_not_the_whole_past() -> None:
    progress, clock, _ = made(1000)
    for _ in range(10):
        clock.now += 60
        progress.advance()
    for _ in range(120):
        clock.now += 1
        progress.advance()
    assert progress.eta() == pytest.approx(1000 - 130, rel=0.05)


def test_resumed_units_count_as_done_but_not_for_the_rate() -> None:
    progress, clock, stream = made(20, done=10)
    clock.now += 30
    progress.advance()
    assert lines(stream) == ["[train-grpo] step 11/20  55 %  elapsed 0:30  left 4:30"]


def test_waiting_makes_the_time_left_grow() -> None:
    progress, clock, _ = made(10)
    clock.now += 10
    progress.advance()
    first = progress.eta()
    clock.now += 10
    second = progress.eta()
    assert first == pytest.approx(90)
    assert second == pytest.approx(180)


def test_bytes_are_shown_as_sizes() -> None:
    progress, clock, stream = made(540_000_000, "B")
    clock.now += 5
    progress.advance(135_000_000)
    assert lines(stream) == ["[train-grpo] 135 MB/540 MB  25 %  elapsed 0:05  left 0:15"]


def test_phase_comes_at_once() -> None:
    progress, _, stream = made(5)
    progress.phase("loading the policy")
    assert lines(stream) == ["[train-grpo] loading the policy"]


def test_threads_lose_no_unit_and_no_line_is_mixed() -> None:
    progress, _, stream = made(4000, interval=0.0)
    threads = [threading.Thread(target=lambda: [progress.advance() for _ in range(1000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert progress.done == 4000
    assert all(line.startswith("[train-grpo] step ") for line in lines(stream))
    assert lines(stream)[-1].startswith("[train-grpo] step 4000/4000")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.4, "0:59"), (59.6, "1:00"), (3599, "59:59"), (3600, "1:00:00"), (-3, "0:00")]
)
def test_clock_text(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1_550_000_000, "1.55 GB"), (2e12, "2 TB")]
)
def test_size_text(size: float, text: str) -> None:
    assert size_text(size) == text
