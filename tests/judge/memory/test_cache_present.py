"""Questions about replies that are not kept take no statement, and what another process keeps is seen all the same."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from components.judge.memory import Cache, CacheKey, present


def key(text: str) -> CacheKey:
    return CacheKey.of(judge="j", protocol="p/1", body=text.encode())


class Counting:
    """A connection that counts its statements."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db, self.statements = db, 0

    def execute(self, *given: Any) -> sqlite3.Cursor:
        self.statements += 1
        return self.db.execute(*given)

    def close(self) -> None:
        self.db.close()


def counted(cache: Cache) -> Counting:
    assert cache._reads is not None
    counting = Counting(cache._reads)
    cache._reads = counting  # type: ignore[assignment]
    return counting


def test_what_is_not_there_is_looked_up_once(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        cache.put(key("there"), b"reply")
        cache._try_write()
        counting = counted(cache)
        for number in range(50):
            assert cache.get(key(str(number))) is None
        assert counting.statements == 1
        assert cache.get(key("there")) == b"reply"
        assert counting.statements == 2


def test_what_another_keeps_or_forgets_is_seen(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as one, Cache(tmp_path / "c") as other:
        for number in range(30):
            assert one.get(key(str(number))) is None
            other.put(key(str(number)), b"%d" % number)
            other._try_write()
            os.utime(tmp_path / "c-wal")  # Commits of one tick of the clock are told apart by it.
            assert one.get(key(str(number))) == b"%d" % number
        other.remove(key("29"))
        other._try_write()
        assert one.get(key("29")) is None
        # The row's number is given out again.
        other.put(key("new"), b"new")
        other._try_write()
        os.utime(tmp_path / "c-wal")
        assert one.get(key("new")) == b"new"


def test_of_a_large_table_nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(present, "_MOST", 10)
    with Cache(tmp_path / "c") as cache:
        for number in range(40):
            cache.put(key(str(number)), b"%d" % number)
        cache._try_write()
    with Cache(tmp_path / "c") as cache:
        assert [cache.get(key(str(number))) for number in range(41)] == [b"%d" % n for n in range(40)] + [None]
        assert not cache._present._keys
