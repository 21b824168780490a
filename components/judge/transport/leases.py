"""Permits and rates that the processes of one host share, in a SQLite file on a local disk.

Permits are held in blocks: a process claims all while it is alone, gives up what is above its fair share when another
one wants more, and writes down what it holds every two seconds. What is not renewed for ten seconds, as when its
process was killed, is free again. Rates are drawn in blocks of a quarter of a second. Times are of the host's
monotonic clock, which its processes share.

A file that cannot be read or written, or stays locked for ten seconds, shares nothing: each process then keeps to the
limits as if it were alone, and says so once.
"""

import hashlib
import logging
import sqlite3
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from components.judge.transport.bucket import Bucket

log = logging.getLogger(__name__)

_EXPIRES = 10.0
_BEAT = 2.0
_EAGER = 0.25
"""Seconds between two looks of a process that wants more than it holds, or holds more than it may."""
_BLOCK_SECONDS = 0.25
_BUSY = 0.2
"""Seconds that the event loop may stand still because another process writes."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS holders (id TEXT PRIMARY KEY, held INTEGER NOT NULL, want INTEGER NOT NULL,
    expires REAL NOT NULL);
CREATE TABLE IF NOT EXISTS rates (name TEXT PRIMARY KEY, level REAL NOT NULL, at REAL NOT NULL);
"""


class LeaseFile:
    """The file that processes with the same endpoints share.

    Args:
        folder: made if missing.
        endpoints: base URLs, in any order.
    """

    def __init__(self, folder: Path, endpoints: Sequence[str]) -> None:
        name = hashlib.sha256("\n".join(sorted(endpoints)).encode()).hexdigest()[:16]
        self.path = folder / f"permits-{name}.sqlite"
        self._db: sqlite3.Connection | None = None
        self._said = False

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """One transaction.

        Raises:
            sqlite3.Error, OSError: the file is locked or unusable.
        """
        if self._db is None:
            self._db = self._open()
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=OFF")
            db.executescript(_SCHEMA)
        except BaseException:
            db.close()
            raise
        return db

    def failed(self, error: Exception) -> None:
        """Say once that nothing is shared."""
        if not self._said:
            self._said = True
            log.warning("permits are not shared with other processes of this host: %s: %s", self.path, error)

    def close(self) -> None:
        """Close the file; calling it twice is harmless."""
        if self._db is not None:
            self._db.close()
            self._db = None


class Lease:
    """The permits that this process holds.

    Args:
        file: shared.
        total: permits of all processes together.

    Attributes:
        allowed: calls that may be under way here.
        due: time of the next :meth:`beat`.
        eager: time from which another :meth:`beat` may be made before, where ``allowed`` does not suffice.
    """

    def __init__(self, file: LeaseFile, total: int) -> None:
        self.allowed = 0
        self.due = self.eager = float("-inf")
        self._file = file
        self._total = total
        self._block = max(1, total // 8)
        self._id = uuid.uuid4().hex
        self._written: float | None = None

    def beat(self, now: float, in_flight: int, need: int) -> None:
        """Claim, give back and renew.

        Args:
            now: seconds.
            in_flight: calls under way; their permits stay held.
            need: calls that would be under way if there were no other process.
        """
        want = min(self._total, -(-need // self._block) * self._block)
        if self._written is None:
            self._written = now
        try:
            with self._file.change() as db:
                db.execute("DELETE FROM holders WHERE expires <= ? OR expires > ?", (now, now + 2 * _EXPIRES))
                others = db.execute("SELECT held, want FROM holders WHERE id != ?", (self._id,)).fetchall()
                self.allowed = self._claim(others, want)
                held = max(in_flight, self.allowed)
                if held or want:
                    row = (self._id, held, want, now + _EXPIRES)
                    db.execute("INSERT OR REPLACE INTO holders VALUES (?, ?, ?, ?)", row)
                else:
                    db.execute("DELETE FROM holders WHERE id = ?", (self._id,))
            self._written = now
        except (sqlite3.Error, OSError) as error:
            if is_locked(error) and now < self._written + _EXPIRES:
                # What was written last still holds.
                self.eager = self.due = now + _EAGER
                return
            self._file.failed(error)
            self.allowed = held = self._total
        self.eager = now + _EAGER
        self.due = now + (_EAGER if held > self.allowed else _BEAT)

    def close(self) -> None:
        """Give everything back."""
        self.allowed = 0
        self.due = self.eager = float("-inf")
        try:
            with self._file.change() as db:
                db.execute("DELETE FROM holders WHERE id = ?", (self._id,))
        except (sqlite3.Error, OSError) as error:
            self._file.failed(error)

    def _claim(self, others: Sequence[tuple[int, int]], want: int) -> int:
        if not want or not others:
            return self._total if want else 0
        free = max(0, self._total - sum(held for held, _ in others))
        mine = min(free, want)
        if any(their_want > held for held, their_want in others):
            mine = min(mine, max(1, self._total // (len(others) + 1)))
        return mine


class SharedBucket:
    """A token bucket as :class:`~components.judge.transport.bucket.Bucket`, filled once for all processes.

    Args:
        file: shared.
        name: of the rate.
        per_minute: the limit of all processes together.
        now: seconds.
    """

    def __init__(self, file: LeaseFile, name: str, per_minute: float, now: float) -> None:
        self._file = file
        self._name = name
        self._whole = Bucket(per_minute, now)
        self._block = self._whole.per_second * _BLOCK_SECONDS
        self._stock = 0.0
        self._next = float("-inf")
        self._alone = False
        self._locked: float | None = None

    def wait(self, cost: float, now: float) -> float:
        """Seconds until ``cost`` can be taken; 0 if it can be now."""
        if self._alone:
            return self._whole.wait(cost, now)
        # What this process took within the last minute; costs of other processes' large calls are not known here.
        room = self._whole.wait_for_room(cost, now) if cost > self._whole.capacity else 0.0
        cost = min(cost, self._whole.capacity)
        if self._stock < cost and now >= self._next:
            self._draw(cost, now)
        if self._alone or self._stock >= cost - 1e-9:
            return room
        return max(room, self._next - now, (cost - self._stock) / self._whole.per_second)

    def take(self, cost: float, now: float) -> None:
        """Take ``cost``; a negative one is given back."""
        self._whole.take(cost, now)
        if not self._alone:
            self._stock -= cost

    def _draw(self, cost: float, now: float) -> None:
        whole = self._whole
        try:
            with self._file.change() as db:
                row = db.execute("SELECT level, at FROM rates WHERE name = ?", (self._name,)).fetchone()
                # After a restart of the host its clock begins anew.
                level, at = row if row is not None and row[1] <= now else (whole.capacity, now)
                level = min(whole.capacity, level + (now - at) * whole.per_second)
                drawn = min(level, max(self._block, cost - self._stock))
                drawn = max(0.0, drawn)
                db.execute("INSERT OR REPLACE INTO rates VALUES (?, ?, ?)", (self._name, level - drawn, now))
        except (sqlite3.Error, OSError) as error:
            self._locked = now if self._locked is None else self._locked
            if is_locked(error) and now < self._locked + _EXPIRES:
                self._next = now + _BLOCK_SECONDS
                return
            self._file.failed(error)
            self._alone = True
            return
        self._locked = None
        self._stock += drawn
        self._next = now + (0.02 if self._stock < cost else 0.0)


def is_locked(error: Exception) -> bool:
    """Whether another process merely holds the file for a moment."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def shared_rates(file: LeaseFile, clock: Callable[[], float]) -> Callable[[str, float], SharedBucket]:
    """Makes rates of that file."""
    return lambda name, per_minute: SharedBucket(file, name, per_minute, clock())
