"""What recording a call costs: our ledger beside plain ways to keep a row.

``PYTHONPATH=. python tests/bench/judge_ledger.py [--calls 20000] [--rounds 3] [--folder DISK]``

A recorded call is one row of calls and one verdict. CPU microseconds are of the whole process, background thread and
closing included, and the least of the rounds; wall time depends on the disk. What each way keeps after ``kill -9``:
all of them every row that was told to be written. After a power cut: only the way with fsync every row.

Seen in two runs on a shared two-core machine with an ext4 disk, CPU microseconds a call and their ratio to ours:
ours 35 and 50; JSON lines without fsync 14 (0.4, 0.3); sqlite3 with a commit a row 75 and 80 (2.2, 1.6; about 3 times
our wall time); JSON lines with fsync a row 202 and 229 (5.8, 4.6; 16 to 20 times our wall time).
"""

import argparse
import dataclasses
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from components.judge.memory import CallRow, Entry, Ledger
from components.judge.memory.tables import SCHEMA

FSYNCED = 20
"""Times fewer calls where each row waits for the disk."""

Rows = Sequence[tuple[CallRow, Entry]]


def made(count: int) -> Rows:
    call = CallRow(
        time=1.7e9,
        judge="qwen3-32b",
        protocol="rubric/0123456789ab",
        purpose="ask",
        prompt_hash="0" * 64,
        attempts=1,
        seconds=0.731,
        key=0,
        endpoint=0,
        prompt_tokens=812,
        completion_tokens=64,
        cached_tokens=640,
        cost=0.000321,
        currency="USD",
        finish="stop",
        reply_chars=240,
        raw_id="1" * 64,
        sample_id="s",
        response_chars=900,
    )
    entry = Entry(
        sample_id="s",
        row_id="row-17",
        criterion="mentions an animal by its common name",
        criterion_index=0,
        status="met",
        probability=0.91,
        log_ratio=None,
        reason=None,
        judge="qwen3-32b",
        protocol="rubric/0123456789ab",
        attempts=1,
        seconds=0.731,
        prompt_tokens=812,
        response_chars=900,
        raw_id="1" * 64,
        time=1.7e9,
        explanation="The second sentence names a heron, which is an animal, so that the criterion holds.",
    )
    return [
        (dataclasses.replace(call, sample_id=f"s{n}"), dataclasses.replace(entry, sample_id=f"s{n}"))
        for n in range(count)
    ]


def ours(rows: Rows, folder: Path) -> None:
    with Ledger(folder / "ledger.sqlite") as ledger:
        for call, entry in rows:
            ledger.add_call(call)
            ledger.add([entry])


def plain_sqlite(rows: Rows, folder: Path) -> None:
    """WAL with synchronous=NORMAL as ours, and a transaction a row."""
    db = sqlite3.connect(folder / "plain.sqlite", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    for statement in SCHEMA:
        db.execute(statement)
    calls = f"INSERT INTO calls VALUES ({', '.join('?' * len(CallRow.__slots__))})"
    verdicts = f"INSERT INTO verdicts VALUES ({', '.join('?' * len(Entry.__slots__))})"
    for call, entry in rows:
        db.execute(calls, tuple(getattr(call, name) for name in CallRow.__slots__))
        db.execute(verdicts, tuple(getattr(entry, name) for name in Entry.__slots__))
    db.close()


def lines(rows: Rows, folder: Path, *, fsync: bool) -> None:
    """A line of JSON a row, in one write."""
    file = os.open(folder / "lines.jsonl", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for pair in rows:
        for row in pair:
            os.write(file, orjson.dumps(row) + b"\n")
            if fsync:
                os.fsync(file)
    os.close(file)


def measure(way: Callable[[Rows, Path], None], rows: Rows, rounds: int, disk: str | None) -> tuple[float, float]:
    """Least CPU and wall microseconds a call."""
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir=disk) as folder:
            cpu, wall = time.process_time(), time.monotonic()
            way(rows, Path(folder))
            found.append((time.process_time() - cpu, time.monotonic() - wall))
    return min(cpu for cpu, _ in found) / len(rows) * 1e6, min(wall for _, wall in found) / len(rows) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where to write; a folder of the system's for temporary files by default")
    options = parser.parse_args()
    rows = made(options.calls)
    few = rows[: max(1, len(rows) // FSYNCED)]
    ways: dict[str, tuple[Callable[[Rows, Path], None], Rows]] = {
        "ours": (ours, rows),
        "JSON lines, no fsync": (lambda given, folder: lines(given, folder, fsync=False), rows),
        "sqlite3, WAL, commit a row": (plain_sqlite, rows),
        "JSON lines, fsync a row": (lambda given, folder: lines(given, folder, fsync=True), few),
    }
    first: float | None = None
    for name, (way, given) in ways.items():
        cpu, wall = measure(way, given, options.rounds, options.folder)
        first = first or cpu
        print(f"{name:28} cpu {cpu:8.1f} us/call  wall {wall:9.1f} us/call  {cpu / first:5.2f} of ours", flush=True)


if __name__ == "__main__":
    main()
