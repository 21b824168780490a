"""The append-only log of calls and verdicts: SQLite in WAL mode, for several writers on one host."""

import dataclasses
import hashlib
import logging
import operator
import os
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from components.core.contracts import CALLS, VERDICTS, write_table
from components.core.errors import JudgeError
from components.judge.calls import Usage
from components.judge.memory import background, tables, tail
from components.judge.memory.budget import Price, Spent
from components.judge.memory.rows import CallRow, Entry, subject
from components.judge.memory.trouble import DURING, ledger_error

log = logging.getLogger(__name__)

_RAW_LIMIT = 4096
"""Bytes kept of the reply of a failed call; enough for an error message, too little to fill a disk."""

_TAIL_BYTES = 8 << 20
"""A tail that has grown so long is replaced by a new one."""

_entry = operator.attrgetter(*tables.COLUMNS["verdicts"])
_call = operator.attrgetter(*tables.COLUMNS["calls"])


class Ledger:
    """Every call that was put to a judge and every verdict that it gave.

    What :meth:`add` or :meth:`add_call` has returned from survives ``kill -9``: the record lies in the writer's tail
    (:mod:`components.judge.memory.tail`) until a transaction in the background has taken it over, and whoever opens
    the ledger next takes over the tails of the killed. So a killed writer loses the calls in flight and nothing else.
    A machine that loses power may lose the last seconds: nothing is forced to the disk call by call.

    Args:
        path: the database file, on a local disk (WAL does not work over a network file system).
        make: whether a missing or empty file becomes a ledger.

    Raises:
        JudgeError: the file cannot be opened, or is something else.
    """

    def __init__(self, path: Path, *, make: bool = True) -> None:
        self.path = path
        self._tail: tail.Tail | None = None
        self._long: list[tail.Tail] = []
        """Tails that get no more records, and are not in the database whole yet."""
        self._pending: list[tail.Record] = []
        self._error: Exception | None = None
        self._closed = False
        self._writing = threading.Condition()
        """Guards the tail and what is pending; held for microseconds."""
        self._flushing = threading.RLock()
        """Guards the database; taken before ``_writing`` where both are."""
        self._writer = background.Writer("ledger", self._writing, lambda: len(self._pending), self._try_flush)
        try:
            if make:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.is_file():
                raise JudgeError("there is no such ledger", where=str(path))
            self._db = tables.connect(path, make=make)
        except (sqlite3.Error, OSError) as error:
            raise ledger_error("opened", path, error) from error
        try:
            (self.id,) = self._db.execute("SELECT value FROM about WHERE name = 'id'").fetchone()
            """Random name of this ledger, unique among ledgers."""
            self._adopt()
        except DURING as error:
            self._db.close()
            raise ledger_error("opened", path, error) from error

    def add(self, entries: Sequence[Entry], *, raw: bytes | None = None, detail: str | None = None) -> None:
        """Append the verdicts of one sample, all or none.

        Args:
            entries: one a criterion.
            raw: body of the reply that failed.
            detail: why it failed; needed for a row of the failures to be kept.

        Raises:
            JudgeError: the disk is full, or another writer holds the file for too long.
        """
        if not entries:
            return
        record: tail.Record = {"verdicts": [_entry(entry) for entry in entries]}
        if detail is not None:
            raw_id = None if raw is None else hashlib.sha256(raw).hexdigest()
            body = None if raw is None else raw[:_RAW_LIMIT]
            record["failures"] = [(raw_id, entries[0].sample_id, detail, body, entries[0].time)]
        self._append(record)

    def add_call(self, row: CallRow) -> None:
        """Append one call.

        Raises:
            JudgeError: the disk is full, or another writer holds the file for too long.
        """
        values = _call(row)
        about = subject()
        if about is not None and row.sample_id is None and row.response_chars is None:
            values = (*values[:-2], *about)
        self._append({"calls": [values]})

    def rows(self) -> list[Entry]:
        """All verdicts in the order of writing."""
        return [Entry(*row) for row in self._all("verdicts")]

    def calls(self) -> list[CallRow]:
        """All calls in the order of writing."""
        found = (CallRow(*each) for each in self._all("calls"))
        return [dataclasses.replace(row, from_cache=bool(row.from_cache)) for row in found]

    def failures(self) -> list[tuple[str, str, bytes | None]]:
        """(sample id, why it failed, first bytes of the reply) of every sample without verdicts."""
        return self.select("SELECT sample_id, detail, body FROM failures")

    def spent(self, judge: str, price: Price | None = None) -> Spent:
        """What the calls to ``judge`` took so far; for a budget that goes on.

        Args:
            judge: its name.
            price: of today; calls that were recorded without a cost, or in another currency, cost by it. Without one
                the cost is the sum of what was recorded.
        """
        found = self.select(
            "SELECT SUM(attempts), SUM(prompt_tokens), SUM(completion_tokens), SUM(MIN(cached_tokens, prompt_tokens)), "
            "SUM(cost), currency FROM calls WHERE judge = ? GROUP BY currency",
            (judge,),
        )
        cost = 0.0
        for _, prompt, completion, cached, recorded, currency in found:
            if price is None or currency == price.currency:
                cost += recorded or 0.0
            else:
                cost += price.cost(Usage(prompt, completion, cached))
        return Spent(sum(row[0] for row in found), sum(row[1] + row[2] for row in found), cost)

    def select(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a query over the tables ``verdicts``, ``calls`` and ``failures``, all that was added included.

        Raises:
            JudgeError: the file cannot be read, or what is pending cannot be written.
        """
        self.flush()
        try:
            with self._flushing:
                self._adopt()
                return self._db.execute(query, tuple(values)).fetchall()
        except DURING as error:
            raise ledger_error("read", self.path, error) from error

    def export_parquet(self, path: Path) -> int:
        """Write all verdicts under the VERDICTS contract; returns their number."""
        return write_table(path, [dataclasses.asdict(entry) for entry in self.rows()], VERDICTS)

    def export_calls(self, path: Path) -> int:
        """Write all calls under the CALLS contract; returns their number."""
        return write_table(path, [dataclasses.asdict(call) for call in self.calls()], CALLS)

    def flush(self) -> None:
        """Put what is pending into the database, where other processes see it.

        Raises:
            JudgeError: the disk is full, or another writer holds the file for too long. Nothing is lost by that: the
                records stay in the tail.
        """
        try:
            self._flush()
        except DURING as error:
            raise ledger_error("written", self.path, error) from error

    def close(self) -> None:
        """Write what is pending and close the file; calling it twice is harmless.

        Raises:
            JudgeError: as :meth:`flush`; the file is closed all the same.
        """
        with self._writing:
            if self._closed:
                return
            self._closed = True
        self._writer.stop()
        try:
            self.flush()
        finally:
            with self._flushing, self._writing:
                for each in self._tails():
                    self._leave(each, done=not self._pending)
                self._tail, self._long = None, []
                self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, record: tail.Record) -> None:
        try:
            line = tail.encode(record)
        except TypeError:
            record = tail.as_unicode(record)
            line = self._encode(record)
        with self._writing:
            if self._closed:
                raise JudgeError("the verdict ledger is closed", where=str(self.path))
            if self._error is not None:
                raise ledger_error("written", self.path, self._error) from self._error
            try:
                if self._tail is None:
                    self._tail = tail.Tail(self.path)
                self._tail.append(line)
            except OSError as error:
                raise ledger_error("written", self.path, error) from error
            self._pending.append(record)
            self._writer.added()

    def _encode(self, record: tail.Record) -> bytes:
        try:
            return tail.encode(record)
        except TypeError as error:
            raise JudgeError(f"the verdict ledger has no place for a value: {error}", where=str(self.path)) from error

    def _try_flush(self) -> bool:
        # In the background nobody waits for the disk or for another writer. Whoever adds next gets the error; meanwhile
        # the disk may be freed, so that this is tried again.
        try:
            self._flush()
        except DURING:
            return False
        return True

    def _flush(self) -> None:
        with self._flushing:
            with self._writing:
                batch, self._pending = self._pending, []
                done = {each.path.name: each.size for each in self._tails()}
                if self._tail is not None and self._tail.size >= _TAIL_BYTES:
                    self._long.append(self._tail)
                    self._tail = None
            if not batch:
                return
            try:
                self._store(batch, done)
            except DURING as error:
                with self._writing:
                    self._pending[:0] = batch
                    self._error = error
                raise
            with self._writing:
                self._error = None
            while self._long:
                self._leave(self._long.pop(), done=True)

    def _tails(self) -> list[tail.Tail]:
        return self._long if self._tail is None else [*self._long, self._tail]

    def _leave(self, current: tail.Tail, *, done: bool) -> None:
        current.close(remove=done)
        if done:
            self._forget(current.path.name)

    def _store(self, records: Sequence[tail.Record], done: Mapping[str, int]) -> None:
        """Put records into the database, and with them how far the tails are taken over, in bytes by file name."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for table in tables.COLUMNS:
                tables.insert(self._db, table, [row for record in records for row in record.get(table, ())])
            self._db.executemany("INSERT OR REPLACE INTO tails VALUES (?, ?)", list(done.items()))
            self._db.execute("COMMIT")
        finally:
            # A full disk may have rolled it back already.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _forget(self, name: str) -> None:
        try:
            self._db.execute("DELETE FROM tails WHERE name = ?", (name,))
        except sqlite3.Error:
            # The row of a file that is gone: names are never used again, so it does no harm.
            return

    def _adopt(self) -> None:
        """Take over the tails of killed writers."""
        for path, file in tail.abandoned(self.path):
            known = self._db.execute("SELECT done FROM tails WHERE name = ?", (path.name,)).fetchone()
            begin = 0 if known is None else int(known[0])
            size = os.fstat(file).st_size
            records, damaged = tail.decode(os.pread(file, max(0, size - begin), begin))
            if records:
                self._store(records, {path.name: size})
            if damaged:
                kept = tail.set_aside(path)
                log.warning("%d records of a killed writer are damaged and not in the ledger: %s", damaged, kept)
            else:
                path.unlink(missing_ok=True)
            self._forget(path.name)

    def _all(self, table: str) -> list[Any]:
        return self.select(f"SELECT {', '.join(tables.COLUMNS[table])} FROM {table} ORDER BY rowid")
