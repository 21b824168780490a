"""Totals against Arrow's own grouping, over random ledgers; deciles against a count of shorter responses."""

import collections
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.judge.memory.segments import to_table
from components.judge.memory.tables import COLUMNS
from components.judge.memory.totals import by, by_decile, sample_lengths, totals

UNREAD = {"unparseable", "missing", "truncated", "empty_reply"}
REASONS = [None, "timeout", "unparseable", "contradictory", "truncated", "missing", "budget", "low_mass"]

VERDICT = st.fixed_dictionaries(
    {
        "sample_id": st.sampled_from([f"s{number}" for number in range(12)]),
        "judge": st.sampled_from(["a", "b"]),
        "protocol": st.sampled_from(["rubric/1", "verif/2"]),
        "reason": st.sampled_from(REASONS),
        "attempts": st.integers(0, 3),
    }
)
CALL = st.fixed_dictionaries(
    {
        "judge": st.sampled_from(["a", "b", "c"]),
        "protocol": st.sampled_from(["rubric/1", "verif/2"]),
        "reason": st.sampled_from(REASONS),
        "purpose": st.sampled_from(["ask", "again", "single"]),
        "attempts": st.integers(0, 3),
        "prompt_tokens": st.integers(0, 1000),
        "completion_tokens": st.integers(0, 1000),
        "cost": st.one_of(st.none(), st.integers(0, 64).map(lambda eighths: eighths / 8)),
        "from_cache": st.integers(0, 1),
        "response_chars": st.one_of(st.none(), st.integers(0, 30)),
    }
)
OTHERS = {"row_id": "r", "criterion": "c", "criterion_index": 0, "seconds": 0.0, "prompt_tokens": 0, "time": 0.0}


def verdict(part: dict) -> dict:
    row = dict.fromkeys(COLUMNS["verdicts"]) | OTHERS | part
    # One sample has one response.
    return row | {
        "response_chars": 3 * (int(row["sample_id"][1:]) // 2),
        "status": "unknown" if row["reason"] else "met",
    }


def call(part: dict) -> dict:
    row = dict.fromkeys(COLUMNS["calls"]) | {"time": 0.0, "prompt_hash": "", "seconds": 0.0} | part
    return row | {
        "currency": None if row["cost"] is None else "EUR",
        "cached_tokens": 0,
        "reply_chars": 0,
        "completion_tokens": part["completion_tokens"],
    }


def arrow(name: str, rows: list[dict]) -> pa.Table:
    return to_table(name, [tuple(row[column] for column in COLUMNS[name]) for row in rows])


@settings(max_examples=40)
@given(st.lists(VERDICT.map(verdict), max_size=40), st.lists(CALL.map(call), max_size=40))
@pytest.mark.parametrize("column", ["judge", "protocol", "reason"])
def test_totals_are_those_of_arrow(column: str, verdicts: list[dict], calls: list[dict]) -> None:
    ours = totals(verdicts, calls, by(column))
    table = arrow("verdicts", verdicts)
    asked = arrow("calls", calls)
    groups = {*table[column].to_pylist(), *asked[column].to_pylist()}
    assert set(ours) == {"-" if group is None else group for group in groups}
    for group in groups:
        mask = pc.is_null if group is None else (lambda values, group=group: pc.equal(values, group))
        mine, theirs = table.filter(mask(table[column])), asked.filter(mask(asked[column]))
        total = ours["-" if group is None else group]
        assert total.verdicts == mine.num_rows
        assert total.unknown == mine.num_rows - mine["reason"].null_count
        assert total.unread == pc.sum(pc.is_in(mine["reason"], pa.array(sorted(UNREAD))), min_count=0).as_py()
        assert total.contradictory == mine.filter(pc.equal(mine["reason"], "contradictory")).num_rows
        assert total.again == theirs.filter(pc.not_equal(theirs["purpose"], "ask")).num_rows
        repeated = theirs.filter(pc.greater(theirs["attempts"], 1))
        assert total.repeated == pc.sum(repeated["attempts"], min_count=0).as_py() - repeated.num_rows
        assert total.calls == theirs.num_rows
        assert total.attempts == pc.sum(theirs["attempts"], min_count=0).as_py()
        assert total.cached == pc.sum(theirs["from_cache"], min_count=0).as_py()
        tokens = pc.add(theirs["prompt_tokens"], theirs["completion_tokens"])
        assert total.tokens == pc.sum(tokens, min_count=0).as_py()
        cost = pc.sum(theirs["cost"]).as_py()
        assert total.cost == ({} if cost is None else {"EUR": cost})


@settings(max_examples=40)
@given(st.lists(VERDICT.map(verdict), max_size=40), st.lists(CALL.map(call), max_size=40))
def test_deciles_count_the_shorter_responses(verdicts: list[dict], calls: list[dict]) -> None:
    samples = {row["sample_id"]: row["response_chars"] for row in verdicts}
    lengths = sample_lengths(verdicts)
    assert sorted(lengths) == sorted(samples.values())
    expected: collections.Counter[str] = collections.Counter()
    for row in [*verdicts, *calls]:
        length = row["response_chars"]
        if length is None or not samples:
            expected["-"] += 1
            continue
        shorter = sum(other < length for other in samples.values())
        # A call about a response longer than all that were judged belongs to the last.
        expected[str(min(shorter, len(samples) - 1) * 10 // len(samples) + 1)] += 1
    found = totals(verdicts, calls, by_decile(lengths))
    assert {name.split()[0]: total.verdicts + total.calls for name, total in found.items()} == expected


def test_a_name_that_two_runs_use_is_two_samples(tmp_path: Path) -> None:
    rows = [{"sample_id": "s", "response_chars": 5}, {"sample_id": "s", "response_chars": 9}] * 2
    assert sorted(sample_lengths(rows)) == [5, 9]
