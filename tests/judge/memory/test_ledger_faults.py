"""A ledger whose disk is full, whose file is damaged, foreign or not to be written: said with file and remedy."""

import dataclasses
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_ledger_rows import entries

from components.core.errors import JudgeError
from components.judge.__main__ import main
from components.judge.memory import Entry, Ledger, Price, Spent, ledger, tables, tail
from components.judge.memory.rows import CallRow

ROOT = Path(__file__).parents[3]

FILLER = """
import resource, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_ledger_rows import entries
from components.core.errors import JudgeError
from components.judge.memory import Ledger
ledger = Ledger(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
number = 0
try:
    while True:
        ledger.add(entries(f"s{{number}}"))
        number += 1
        if number % 50 == 0:
            ledger.flush()
except JudgeError as error:
    print(number, flush=True)
    print(error)
"""

NOBODY = """
import os, sys
from pathlib import Path
from components.core.errors import JudgeError
from components.judge.memory import Ledger
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    Ledger(Path(sys.argv[1]))
except JudgeError as error:
    print(error)
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("limit", [100_000, 300_000, 1_000_000])
def test_a_full_disk_is_named_and_what_was_written_stays(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "ledger.sqlite"
    code = FILLER.format(paths=[str(Path(__file__).parent), str(Path(__file__).parents[1])])
    told, _, message = run(code, str(path), str(limit)).partition("\n")
    assert "cannot be written" in message
    assert str(path) in message
    assert "free the disk" in message
    with Ledger(path) as opened:
        names = [row.sample_id for row in opened.rows()]
        opened.add(entries("after"))
    # What add() returned from, and perhaps the one under way.
    assert int(told) > 50
    assert len(names) in (2 * int(told), 2 * int(told) + 2)
    assert names == [f"s{number}" for number in range(len(names) // 2) for _ in range(2)]


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    # Not below pytest's folder, which nobody but its owner may enter.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_may_not_be_written_is_named(locked_folder: Path) -> None:
    message = run(NOBODY, str(locked_folder / "ledger.sqlite"))
    assert str(locked_folder / "ledger.sqlite") in message
    assert f"make the file and its folder {locked_folder} writable" in message


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JudgeError, match=r"(?s)cannot be opened.*file/ledger"):
        Ledger(tmp_path / "file" / "ledger")


def some_tail(path: Path, records: list[list[Entry]]) -> Path:
    """A tail as a killed writer leaves it."""
    Ledger(path).close()
    left = tail.Tail(path)
    for each in records:
        left.append(tail.encode({"verdicts": [ledger._entry(entry) for entry in each]}))
    left.close(remove=False)
    return left.path


def test_a_tail_cut_in_its_last_record_is_taken_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "l"
    there = some_tail(path, [entries("a"), entries("b")])
    os.truncate(there, there.stat().st_size - 1)
    with Ledger(path) as opened:
        assert [row.sample_id for row in opened.rows()] == ["a", "a"]
    assert not there.exists()
    assert not caplog.records


def test_damaged_records_are_told_and_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "l"
    there = some_tail(path, [entries("a"), entries("b"), entries("c")])
    whole = there.read_bytes()
    lines = whole.split(b"\n")
    lines[1] = lines[1].replace(b'"b"', b'"x"')
    there.write_bytes(b"\n".join(lines))
    with caplog.at_level(logging.WARNING), Ledger(path) as opened:
        assert [row.sample_id for row in opened.rows()] == ["a", "a", "c", "c"]
    (kept,) = tmp_path.glob("*damaged*")
    assert kept.read_bytes() == b"\n".join(lines)
    assert "1 records" in caplog.text
    assert str(kept) in caplog.text
    # Neither taken over again nor told again.
    caplog.clear()
    with Ledger(path) as opened:
        assert len(opened.rows()) == 4
    assert not caplog.records


@pytest.mark.parametrize("content", [b"\0" * 300, b"\xff" * 300 + b"\n", b"00000000 {}\n", b"\n\n"])
def test_a_tail_of_rubbish_loses_nothing_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "l"
    with Ledger(path) as opened:
        opened.add(entries("a"))
    (tmp_path / "l.tail-1-00").write_bytes(content)
    with Ledger(path) as opened:
        assert len(opened.rows()) == 2


def test_a_tail_longer_than_its_limit_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_TAIL_BYTES", 5_000)
    path = tmp_path / "l"
    with Ledger(path) as opened:
        for number in range(120):
            opened.add(entries(str(number)))
            if number % 10 == 0:
                opened.flush()
            assert sum(each.stat().st_size for each in tmp_path.glob("l.tail-*")) < 25_000
        opened.flush()
        assert len(list(tmp_path.glob("l.tail-*"))) <= 1
        names = [row.sample_id for row in opened.rows()]
    assert names == [str(number) for number in range(120) for _ in range(2)]


def test_a_locked_ledger_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "WAIT", 0.2)
    path = tmp_path / "l"
    with Ledger(path) as opened:
        opened.add(entries("a"))
        opened.flush()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        opened.add(entries("b"))
        with pytest.raises(JudgeError, match=r"(?s)locked.*end the process that holds the file"):
            opened.flush()
        other.execute("ROLLBACK")
        opened.flush()
        opened.add(entries("c"))
        assert [row.sample_id for row in opened.rows()] == ["a", "a", "b", "b", "c", "c"]
        other.close()


def test_a_damaged_database_is_named_with_a_way_to_save_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as opened:
        for number in range(2_000):
            opened.add(entries(str(number)))
    data = bytearray(path.read_bytes())
    # All pages but the first two, which hold the tables' names.
    data[8192:] = b"\x5a" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(JudgeError, match=r"(?s)malformed.*ledger\.sqlite.*\.recover"):
        Ledger(path).rows()


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 5000])
def test_reading_what_is_no_ledger_neither_succeeds_nor_changes_it(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(content)
    assert main(["ledger", str(path)]) == 1
    assert str(path) in capsys.readouterr().err
    assert path.read_bytes() == content


def test_another_database_and_another_version_are_told_apart(tmp_path: Path) -> None:
    for name, mark, message in (("a", 0, "something else"), ("b", 0x4756_4C01, "another version")):
        db = sqlite3.connect(tmp_path / name)
        db.execute("CREATE TABLE t (x)")
        db.execute(f"PRAGMA application_id={mark}")
        db.close()
        with pytest.raises(JudgeError, match=message):
            Ledger(tmp_path / name)


def test_lone_surrogates_become_a_replacement(tmp_path: Path) -> None:
    (first, second) = entries("s")
    explained = dataclasses.replace(first, explanation="a\ud800b")
    with Ledger(tmp_path / "l") as opened:
        opened.add([explained, second], raw=b"\xff", detail="\udfff")
        assert opened.rows()[0].explanation == "a\ufffdb"
        assert opened.failures() == [("s", "\ufffd", b"\xff")]


def test_a_value_without_a_place_is_refused_and_stops_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as opened:
        with pytest.raises(JudgeError, match="no place"):
            opened.add_call(call(prompt_tokens=1 << 70))
        opened.add_call(call())
        assert len(opened.calls()) == 1


def call(**changes: object) -> CallRow:
    values = {"time": 1.0, "judge": "j", "protocol": "p", "purpose": "ask", "prompt_hash": "0", "attempts": 1}
    return CallRow(**{**values, "seconds": 0.1, **changes})  # type: ignore[arg-type]


def test_what_was_spent_is_priced_in_the_currency_of_today(tmp_path: Path) -> None:
    tokens = {"prompt_tokens": 1_000_000, "completion_tokens": 500_000, "cached_tokens": 250_000}
    with Ledger(tmp_path / "l") as opened:
        assert opened.spent("j") == Spent()
        opened.add_call(call(attempts=2, cost=7.0, currency="EUR", **tokens))
        opened.add_call(call(**tokens))
        opened.add_call(call(cost=1.0, currency="USD", **tokens))
        opened.add_call(call(judge="other", cost=100.0, currency="EUR"))
        # Unpriced and foreign calls: 0.75 M fresh at 2, 0.25 M cached at 1, 0.5 M of replies at 8, so 5.75 each.
        assert opened.spent("j", Price(2.0, 8.0, 1.0, "EUR")) == Spent(4, 4_500_000, 7.0 + 2 * 5.75)
        assert opened.spent("j") == Spent(4, 4_500_000, 8.0)


def test_threads_share_a_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as opened:

        def add(name: str) -> None:
            for number in range(200):
                opened.add(entries(f"{name}-{number}"))

        threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        names = [row.sample_id for row in opened.rows()]
    for name in "abc":
        assert [each for each in names if each[0] == name] == [f"{name}-{n}" for n in range(200) for _ in range(2)]
