"""Progress as plain lines, for people who wait: what is done, how much is left, how long it will take."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Self, TextIO

_WINDOW_SECONDS = 60.0
_BYTES = "B"


def clock_text(seconds: float) -> str:
    """Seconds as ``m:ss``, or ``h:mm:ss`` from an hour on."""
    whole = max(0, round(seconds))
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def size_text(size: float) -> str:
    """Bytes in the decimal unit that leaves a number below 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


class Progress:
    """Counts units of work and prints a line at most every ``interval`` seconds, and one at the end.

    Safe to use from several threads.

    Args:
        label: who is at work, shown in brackets.
        total: units to do; None when unknown, and then neither percentage nor time left is shown.
        unit: the noun shown before the count ("step", "row"); ``B`` shows sizes in bytes.
        done: units finished before (a resumed run); they count as done, not for the rate.
        interval: least seconds between two lines.
        stream: where lines go; standard output by default.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        label: str,
        total: int | None = None,
        unit: str = "",
        *,
        done: int = 0,
        interval: float = 2.0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.label = label
        self._interval = interval
        self._stream = stream
        self._clock = clock
        self._lock = threading.RLock()
        self.begin(total, unit, done=done)

    def begin(self, total: int | None, unit: str = "", *, done: int = 0, note: str = "") -> Self:
        """Start counting afresh under the same label: a step's next timed phase."""
        with self._lock:
            self.total = total
            self.unit = unit
            self.done = done
            self._began = self._clock()
            self._printed_at: float | None = None
            self._printed_done: int | None = None
            self._note = note
            self._samples: deque[tuple[float, int]] = deque([(self._began, done)])
        return self

    def advance(self, n: int = 1, note: str = "", *, typical: bool = True) -> None:
        """Add ``n`` finished units; ``note`` is shown at the end of the line until the next note.

        Units that are not ``typical``, such as the first one with a start-up in its time, tell nothing about the rate.
        """
        with self._lock:
            now = self._clock()
            self.done += n
            self._note = note or self._note
            if typical:
                self._samples.append((now, self.done))
            else:
                self._samples = deque([(now, self.done)])
            while len(self._samples) > 2 and now - self._samples[1][0] > _WINDOW_SECONDS:
                self._samples.popleft()
            finished = self.total is not None and self.done >= self.total and n > 0
            due = now - (self._began if self._printed_at is None else self._printed_at) >= self._interval
            if (finished and self._printed_done != self.done) or due:
                self._print_count(now)

    def phase(self, text: str) -> None:
        """Say at once what is being done, for work that has no count."""
        with self._lock:
            self._write(f"[{self.label}] {text}")

    def finish(self, note: str = "") -> None:
        """Print where the count stands, unless that was the last line already."""
        with self._lock:
            if note:
                self._note = note
            if self._printed_done != self.done or note:
                self._print_count(self._clock())

    def eta(self) -> float | None:
        """Seconds left at the rate of the last minute; None while unknown."""
        with self._lock:
            if self.total is None:
                return None
            (first_at, first_done), (last_at, last_done) = self._samples[0], self._samples[-1]
            if last_done <= first_done:
                return None
            # Nothing having finished for a while is information too: the time since then belongs to the rate.
            spent = max(self._clock() - first_at, last_at - first_at)
            return max(0, self.total - self.done) * spent / (last_done - first_done)

    def _print_count(self, now: float) -> None:
        count, whole = (
            (size_text(self.done), size_text(self.total or 0))
            if self.unit == _BYTES
            else (str(self.done), str(self.total))
        )
        parts = [count if self.total is None else f"{count}/{whole}"]
        if self.unit and self.unit != _BYTES:
            parts[0] = f"{self.unit} {parts[0]}"
        if self.total:
            parts.append(f"{100 * self.done / self.total:.0f} %")
        parts.append(f"elapsed {clock_text(now - self._began)}")
        left = self.eta()
        if left is not None and self.total is not None and self.done < self.total:
            parts.append(f"left {clock_text(left)}")
        if self._note:
            parts.append(self._note)
        self._printed_at, self._printed_done = now, self.done
        self._write(f"[{self.label}] " + "  ".join(parts))

    def _write(self, line: str) -> None:
        stream = self._stream or sys.stdout
        stream.write(line + "\n")
        stream.flush()
