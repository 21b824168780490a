"""Totals of a ledger by hand calculation, from SQLite and from shipped segments, over the command line."""

import dataclasses

import pyarrow.parquet as pq
import pytest

from components.core.store import Store
from components.judge.__main__ import main
from components.judge.memory import CallRow, Entry, Ledger
from components.judge.memory.segments import ship
from components.judge.memory.totals import by_decile


def entry(number: int, status: str = "met", reason: str | None = None, attempts: int = 1) -> Entry:
    return Entry(
        sample_id=f"s{number}",
        row_id="r",
        criterion="mentions an animal",
        criterion_index=0,
        status=status,
        probability=None if status == "unknown" else 1.0,
        log_ratio=None,
        reason=reason,
        judge="a" if number < 8 else "b",
        protocol="rubric/1",
        attempts=attempts,
        seconds=0.5,
        prompt_tokens=10,
        response_chars=10 * number,
        raw_id=None,
        time=1.0,
    )


def call(number: int, attempts: int, cost: float | None, *, from_cache: bool = False, purpose: str = "ask") -> CallRow:
    return CallRow(
        time=1.0,
        judge="a" if number < 8 else "b",
        protocol="rubric/1",
        purpose=purpose,
        prompt_hash="0",
        attempts=attempts,
        seconds=0.5,
        prompt_tokens=0 if from_cache else 100,
        completion_tokens=0 if from_cache else 20,
        cost=cost,
        currency=None if cost is None else "USD",
        from_cache=from_cache,
        sample_id=f"s{number}",
        response_chars=10 * number,
    )


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        opened.add([entry(number) for number in range(1, 8)])
        opened.add([entry(8, "unknown", "timeout", 3), entry(9, "unmet"), entry(10, "unknown", "refused")])
        opened.add([entry(11, "unknown", "truncated"), entry(12, "unknown", "contradictory", 2)])
        opened.add_call(call(1, 1, 0.25))
        opened.add_call(call(2, 3, 0.5))
        # A rival in two orders makes two questions, and neither is asked again.
        opened.add_call(call(12, 1, None))
        opened.add_call(call(12, 1, None))
        opened.add_call(call(9, 0, None, from_cache=True))
        opened.add_call(call(11, 2, None, purpose="again"))
        opened.add_call(call(11, 1, None, purpose="single"))
        # What a live writer has not flushed yet, another reader does not see.
        opened.flush()
        yield opened


def table(text: str, title: str) -> dict[str, str]:
    block = next(block for block in text.split("\n\n") if block.startswith(title))
    return {line.split("  ")[0].strip(): " ".join(line.split("  ")[1:]).split() for line in block.splitlines()[1:]}


def test_totals_by_judge_reason_and_length(ledger, capsys):
    assert main(["ledger", str(ledger.path)]) == 0
    text = capsys.readouterr().out
    judges = table(text, "judge")
    # verdicts; unknown, unread, contradictory; calls; again, from the cache; HTTP calls; repeated; tokens, cost
    none = ["0", "(0.0", "%)"]
    one, three = ["1", "(20.0", "%)"], ["4", "(80.0", "%)"]
    assert judges["a"] == ["7", *none * 3, "2", *none * 2, "4", "2", "(50.0", "%)", "240", "0.7500", "USD"]
    again = ["2", "(40.0", "%)"]
    assert judges["b"] == ["5", *three, *one, *one, "5", *again, *one, "5", "1", "(20.0", "%)", "480", "-"]
    reasons = table(text, "reason")
    assert {name: cells[0] for name, cells in reasons.items()} == {
        "-": "8",
        "contradictory": "1",
        "refused": "1",
        "timeout": "1",
        "truncated": "1",
    }
    lengths = table(text, "response length, decile")
    # Twelve samples: the first decile has two of them, and so has the sixth.
    starts = [10, 30, 40, 50, 60, 70, 90, 100, 110, 120]
    assert {name: cells[0] for name, cells in lengths.items()} == {
        f"{number} from {start}": "2" if number in (1, 6) else "1" for number, start in enumerate(starts, start=1)
    }


def test_canaries_are_told_apart_and_are_no_response_of_some_length(ledger, capsys):
    main(["ledger", str(ledger.path)])
    before = capsys.readouterr().out
    assert not [block for block in before.split("\n\n") if block.startswith("about")]
    (first, *_) = ledger.rows()
    ledger.add([dataclasses.replace(first, sample_id="canary-1-1-0", response_chars=1)])
    ledger.add_call(dataclasses.replace(ledger.calls()[0], sample_id="canary-1-1-0", response_chars=1))
    ledger.flush()
    main(["ledger", str(ledger.path)])
    after = capsys.readouterr().out
    about = table(after, "about")
    # Twelve verdicts and seven calls about responses, as above.
    assert (about["canaries"][0], about["responses"][0]) == ("1", "12")
    assert table(after, "response length") == table(before, "response length")


def test_segments_give_the_same_totals(ledger, tmp_path, capsys):
    assert main(["ledger", str(ledger.path)]) == 0
    direct = capsys.readouterr().out
    folder = tmp_path / "store"
    store = Store.open(folder.as_uri())
    assert len(ship(ledger, store, "run")) == 2
    assert ship(ledger, store, "run") == []
    ledger.add_call(call(3, 1, 0.125))
    assert len(ship(ledger, store, "run")) == 1
    assert main(["ledger", str(folder), "--parquet", str(tmp_path / "out")]) == 0
    joined = capsys.readouterr().out
    assert table(joined, "reason").keys() == table(direct, "reason").keys()
    assert table(joined, "judge")["a"][-2:] == ["0.8750", "USD"]
    assert pq.read_table(tmp_path / "out/calls.parquet")["attempts"].to_pylist() == [1, 3, 1, 1, 0, 2, 1, 1]
    assert pq.read_table(tmp_path / "out/verdicts.parquet").num_rows == 12


def test_equal_lengths_share_the_lowest_decile():
    decile = by_decile([5] * 9 + [100])
    assert decile({"response_chars": 5}) == " 1 from 5"
    assert decile({"response_chars": 100}) == "10 from 100"
    assert decile({"response_chars": None}) == "-"


@pytest.mark.parametrize("content", [None, b"no database"])
def test_what_is_no_ledger_is_said(tmp_path, capsys, content):
    path = tmp_path / "x.sqlite"
    if content is not None:
        path.write_bytes(content)
    assert main(["ledger", str(path)]) == 1
    assert str(path) in capsys.readouterr().err
