"""The ledger: nothing written is lost, several may write, and it exports under the contract."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from judge_servers import ANIMAL, FOOD, sample

from components.core.contracts import VERDICTS, read_table
from components.core.errors import JudgeError
from components.judge.memory import Entry, Ledger
from components.judge.verdict import UnknownReason, Verdict, VerdictStatus

KNOWN = Verdict(VerdictStatus.MET, 0.75, 4.4, None, "j", "likelihood_ratio/1", 2, "raw")
UNKNOWN = Verdict(VerdictStatus.UNKNOWN, None, None, UnknownReason.TIMEOUT, "j", "likelihood_ratio/1", 3)


def entries(name: str = "s") -> list[Entry]:
    asked = sample("A cat.", ANIMAL, FOOD, name=name)
    return [
        Entry.of(asked, index, verdict, seconds=0.5, prompt_tokens=7 + index)
        for index, verdict in enumerate((KNOWN, UNKNOWN))
    ]


def test_export_and_read_back(tmp_path: Path) -> None:
    with Ledger(tmp_path / "deep" / "ledger.sqlite") as ledger:
        ledger.add(entries(), raw=b"x" * 10_000, detail="no reply")
        assert ledger.export_parquet(tmp_path / "verdicts.parquet") == 2
        ((name, detail, body),) = ledger.failures()
    assert (name, detail) == ("s", "no reply")
    assert body == b"x" * 4096
    met, unknown = read_table(tmp_path / "verdicts.parquet", VERDICTS).to_pylist()
    assert time.time() - met.pop("time") < 600
    assert met == {
        "sample_id": "s",
        "row_id": "row",
        "criterion": "mentions an animal",
        "criterion_index": 0,
        "status": "met",
        "probability": 0.75,
        "log_ratio": 4.4,
        "reason": None,
        "judge": "j",
        "protocol": "likelihood_ratio/1",
        "attempts": 2,
        "seconds": 0.5,
        "prompt_tokens": 7,
        "response_chars": 6,
        "raw_id": "raw",
        "mass": None,
        "explanation": None,
    }
    assert (unknown["status"], unknown["probability"], unknown["log_ratio"]) == ("unknown", None, None)
    assert (unknown["reason"], unknown["criterion_index"]) == ("timeout", 1)


def test_an_empty_ledger_exports(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        assert ledger.export_parquet(tmp_path / "v.parquet") == 0
    assert read_table(tmp_path / "v.parquet", VERDICTS).num_rows == 0


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Ledger(tmp_path / "l") as ledger:
            ledger.add(entries(name))
    with Ledger(tmp_path / "l") as ledger:
        assert [row.sample_id for row in ledger.rows()] == ["a", "a", "b", "b"]


def test_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l").write_text("this is no database, and long enough to be seen as one " * 50)
    with pytest.raises(JudgeError, match="cannot be opened"):
        Ledger(tmp_path / "l")


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from test_ledger_rows import entries
from components.judge.memory import Ledger
ledger = Ledger(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    ledger.add(entries(f"{{sys.argv[2]}}-{{number}}"))
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    code = WRITER.format(here=str(Path(__file__).parent))
    root = Path(__file__).parents[3]
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path), name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}:{root / 'tests' / 'judge'}"},
    )


def test_several_writers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "l"
    running = [writer(path, name, 60) for name in ("a", "b", "c")]
    for process in running:
        process.communicate(timeout=120)
        assert process.returncode == 0
    with Ledger(path) as ledger:
        rows = ledger.rows()
    assert len(rows) == 3 * 60 * 2
    for name in ("a", "b", "c"):
        mine = [row.sample_id for row in rows if row.sample_id.startswith(name)]
        assert mine == [f"{name}-{number}" for number in range(60) for _ in range(2)]


def test_a_killed_writer_loses_nothing_that_it_had_written(tmp_path: Path) -> None:
    path = tmp_path / "l"
    process = writer(path, "k", 100_000)
    assert process.stdout is not None
    seen = -1
    for line in process.stdout:
        seen = int(line)
        if seen >= 25:
            break
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait(timeout=30)
    seen = int(rest[-1]) if rest and rest[-1].isdigit() else seen
    with Ledger(path) as ledger:
        names = [row.sample_id for row in ledger.rows()]
        ledger.add(entries("after"))
    # A sample's verdicts are there together or not at all, and at most the one under way is beyond what was told.
    assert len(names) % 2 == 0
    assert seen + 1 <= len(names) // 2 <= seen + 2
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
