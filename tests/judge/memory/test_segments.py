"""The ledger in a store: only new rows travel, no row is joined twice, and what is damaged or missing is named."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_ledger_faults import call
from test_ledger_rows import entries

from components.core.contracts import CALLS, read_table
from components.core.errors import ContractError, StorageError
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId
from components.core.store import Store
from components.judge.__main__ import main
from components.judge.memory import Ledger, segments
from components.judge.memory.segments import found, join, ship

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open((tmp_path / "store").as_uri())


def names(joined: object) -> list[str]:
    return sorted(row[0] for row in joined.execute("SELECT DISTINCT sample_id FROM verdicts"))  # type: ignore[attr-defined]


def test_only_new_rows_are_shipped(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 5)
    with Ledger(tmp_path / "l") as ledger:
        assert ship(ledger, store, "run/ledger") == []
        for number in range(4):
            ledger.add(entries(str(number)), raw=b"\x00\xff", detail="failed")
        first = ship(ledger, store, "run/ledger")
        # Eight verdicts in two segments, four failures in one.
        assert [key.split("/")[-1][:34] for key in first] == [
            "verdicts-000000000001-000000000005",
            "verdicts-000000000006-000000000008",
            "failures-000000000001-000000000004",
        ]
        assert ship(ledger, store, "run/ledger") == []
        ledger.add(entries("4"))
        ledger.add_call(call(from_cache=True, cost=0.5, currency="EUR"))
        second = ship(ledger, store, "/run/ledger/")
        assert [Path(key).name.rsplit("-", 1)[0] for key in second] == [
            "verdicts-000000000009-000000000010",
            "calls-000000000001-000000000001",
        ]
        joined = join(store, "run")
        assert joined.execute("SELECT * FROM verdicts").fetchall() == ledger.select("SELECT * FROM verdicts")
        assert joined.execute("SELECT * FROM calls").fetchall() == ledger.select("SELECT * FROM calls")
        assert joined.execute("SELECT * FROM failures").fetchall() == ledger.select("SELECT * FROM failures")
        assert ledger.export_calls(tmp_path / "calls.parquet") == 1
    assert segments.columns(joined, "calls").equals(read_table(tmp_path / "calls.parquet", CALLS))


def test_a_ledger_goes_on_after_its_process(tmp_path: Path, store: Store) -> None:
    for name in ("a", "b"):
        with Ledger(tmp_path / "l") as ledger:
            ledger.add(entries(name))
            ship(ledger, store, "")
    assert len({each.ledger for each in found(store)}) == 1
    assert names(join(store)) == ["a", "b"]


def test_two_ledgers_join_each_row_once(tmp_path: Path, store: Store) -> None:
    for name in ("a", "b"):
        with Ledger(tmp_path / name) as ledger:
            ledger.add(entries(name))
            ledger.add(entries("both"))
            ship(ledger, store, "x/y")
    joined = join(store)
    assert names(joined) == ["a", "b", "both"]
    assert joined.execute("SELECT COUNT(*) FROM verdicts").fetchone() == (8,)


def test_segments_that_overlap_are_joined_once(tmp_path: Path, store: Store) -> None:
    """Two processes shipped at once, neither seeing what the other did."""
    blind = Store.open((tmp_path / "other").as_uri())
    with Ledger(tmp_path / "l") as ledger:
        ledger.add(entries("a"))
        ship(ledger, store, "")
        ledger.add(entries("b"))
        for key in ship(ledger, blind, ""):
            store.write_bytes(key, blind.read_bytes(key))
        ledger.add(entries("c"))
        ship(ledger, store, "")
        expected = ledger.select("SELECT * FROM verdicts")
    assert len(found(store)) == 3
    assert join(store).execute("SELECT * FROM verdicts").fetchall() == expected


SHIPPER = """
import sys
from pathlib import Path
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId
from components.core.store import Store
from components.judge.memory import Ledger
from components.judge.memory.segments import ship
from components.judge.memory.rows import CallRow
with Ledger(Path(sys.argv[1])) as ledger:
    for number in range(60):
        ledger.add_call(CallRow(1.0, "j", "p", "ask", sys.argv[3], 1, 0.1))
        if number % 20 == 19:
            ship(ledger, Store.open(sys.argv[2]), "s")
"""


def test_two_writers_of_one_ledger_ship_at_once(tmp_path: Path, store: Store) -> None:
    command = [sys.executable, "-c", SHIPPER, str(tmp_path / "l"), store.url]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen([*command, name], env=env) for name in "ab"]
    assert [process.wait(timeout=60) for process in running] == [0, 0]
    rows = join(store).execute("SELECT prompt_hash, COUNT(*) FROM calls GROUP BY 1").fetchall()
    assert rows == [("a", 60), ("b", 60)]


@pytest.fixture
def three(tmp_path: Path, store: Store) -> list[Path]:
    with Ledger(tmp_path / "l") as ledger:
        for name in "abc":
            ledger.add(entries(name))
            ship(ledger, store, "run")
    return sorted((tmp_path / "store").rglob("*.parquet"))


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "renamed"])
def test_a_damaged_segment_is_named(
    harm: str, three: list[Path], store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    data = three[1].read_bytes()
    changed = bytes([data[100] ^ 1])
    content = {"cut": data[:-20], "changed": data[:100] + changed + data[101:], "empty": b"", "renamed": data}[harm]
    three[1].write_bytes(content)
    if harm == "renamed":
        three[1] = three[1].rename(three[1].with_name("verdicts-000000000003-000000000004-0123456789ab.parquet"))
    with pytest.raises(ContractError, match=three[1].name):
        join(store)
    assert main(["ledger", store.url]) == 1
    assert three[1].name in capsys.readouterr().err


def test_a_missing_segment_is_named(three: list[Path], store: Store) -> None:
    three[1].unlink()
    with pytest.raises(ContractError, match="rows 3 to 4 of the table verdicts are in no segment"):
        join(store)


def replaced(path: Path, table: pa.Table) -> Path:
    """The segment with another content, under the name that it then has."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data = sink.getvalue().to_pybytes()
    path.unlink()
    head = path.name.rpartition("-")[0]
    path = path.with_name(f"{head}-{hashlib.sha256(data).hexdigest()[:12]}.parquet")
    path.write_bytes(data)
    return path


def test_a_segment_of_an_earlier_version_has_nulls(three: list[Path], store: Store) -> None:
    older = replaced(three[0], pq.read_table(three[0]).drop_columns(["mass", "explanation"]))
    assert names(join(store)) == ["a", "b", "c"]
    replaced(older, pq.read_table(older).drop_columns(["status"]))
    with pytest.raises(ContractError, match="'status'"):
        join(store)


def test_a_folder_without_segments_is_named(tmp_path: Path, store: Store) -> None:
    store.write_bytes("run/manifest.json", b"{}")
    with pytest.raises(StorageError, match="run"):
        join(store, "run")


def test_one_ledgers_own_folder_can_be_named(three: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", str(three[0].parent)]) == 0
    assert "6  3 (50.0 %)" in capsys.readouterr().out


def test_one_ledger_is_not_counted_twice(
    three: list[Path], tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", str(tmp_path / "l"), store.url]) == 1
    assert "counted twice" in capsys.readouterr().err
    assert main(["ledger", str(tmp_path / "l"), str(tmp_path / "l")]) == 1


@pytest.mark.parametrize("arguments", [[], ["--parquet"]])
def test_a_command_without_paths_shows_its_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ledger", *arguments])
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", ["missing.sqlite", "missing/", "ftp://host/x", "file://relative", "s3://B/x"], ids=lambda path: path[:4]
)
def test_a_path_that_leads_nowhere_is_named(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = path if "://" in path else str(tmp_path / path)
    assert main(["ledger", given]) == 1
    assert given.rstrip("/") in capsys.readouterr().err


def test_tables_that_cannot_be_written_are_named(
    three: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("")
    assert main(["ledger", str(tmp_path / "l"), "--parquet", str(tmp_path / "taken")]) == 1
    assert str(tmp_path / "taken") in capsys.readouterr().err


@pytest.mark.s3
def test_segments_on_a_real_s3_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manager = ServiceManager(tmp_path / "state", ProcessId.current())
    try:
        for variable, value in seaweedfs.start(tmp_path / "state", manager=manager).items():
            monkeypatch.setenv(variable, value)
        url = f"s3://{seaweedfs.BUCKET}/ledgers"
        store = Store.open(url)
        with Ledger(tmp_path / "l") as ledger:
            for name in "ab":
                ledger.add(entries(name))
                ship(ledger, store, "run/ledger")
            assert ship(ledger, store, "run/ledger") == []
        assert names(join(store, "run")) == ["a", "b"]
        assert main(["ledger", f"{url}/run"]) == 0
        assert "4  2 (50.0 %)" in capsys.readouterr().out
        assert main(["ledger", f"{url}/nothing"]) == 1
        assert f"{url}/nothing" in capsys.readouterr().err
    finally:
        manager.end_all()
