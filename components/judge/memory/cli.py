"""``python -m components.judge ledger PATH...``: what a judge was asked, what it cost, and how often it failed."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from components.core.errors import JudgeError
from components.core.store import Store
from components.judge.memory import segments
from components.judge.memory.ledger import Ledger
from components.judge.memory.tables import COLUMNS
from components.judge.memory.totals import Total, by, by_decile, rows, sample_lengths, totals

_HEAD = ("verdicts", "unknown", "repeated", "calls", "HTTP", "cached", "tokens", "cost")


def main(argv: Sequence[str] | None = None) -> int:
    """Print totals of one or more ledgers together; returns the exit status.

    Raises:
        JudgeError: a path is no ledger.
        StorageError: a folder has no segment of a ledger.
    """
    parser = argparse.ArgumentParser(prog="python -m components.judge ledger", description=__doc__)
    parser.add_argument("paths", nargs="+", help="ledger.sqlite, or the folder or s3:// URL of a ledger's segments")
    parser.add_argument("--parquet", metavar="FOLDER", help="also write verdicts.parquet and calls.parquet there")
    chosen = parser.parse_args(argv)
    verdicts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for path in chosen.paths:
        found_verdicts, found_calls = _read(path)
        verdicts += found_verdicts
        calls += found_calls
    for title, groups in _groups(verdicts, calls):
        print("\n".join(_table(title, groups)), end="\n\n")
    if chosen.parquet:
        folder = Path(chosen.parquet)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in (("verdicts", verdicts), ("calls", calls)):
            data = segments.to_table(name, [tuple(row[column] for column in COLUMNS[name]) for row in table])
            pq.write_table(data, folder / f"{name}.parquet")
            print(f"{len(table)} {name} in {folder / name}.parquet")
    return 0


def _read(path: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    if "://" in path or Path(path).is_dir():
        store = Store.open(path if "://" in path else Path(path).absolute().as_uri())
        joined = segments.join(store)
        return rows(joined.execute, "verdicts"), rows(joined.execute, "calls")
    if not Path(path).is_file():
        raise JudgeError(
            "there is no such ledger", where=path, remedy="training keeps it as ledger.sqlite in the step's work folder"
        )
    with Ledger(Path(path)) as ledger:
        return rows(ledger.select, "verdicts"), rows(ledger.select, "calls")


def _groups(verdicts: list[dict[str, Any]], calls: list[dict[str, Any]]) -> list[tuple[str, dict[str, Total]]]:
    return [
        ("judge", totals(verdicts, calls, by("judge"))),
        ("protocol", totals(verdicts, calls, by("protocol"))),
        ("reason", totals(verdicts, calls, by("reason"))),
        ("response length, decile", totals(verdicts, calls, by_decile(sample_lengths(verdicts)))),
    ]


def _table(title: str, groups: dict[str, Total]) -> list[str]:
    lines = [(title, *_HEAD), *((name, *_cells(total)) for name, total in groups.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]


def _cells(total: Total) -> tuple[str, ...]:
    rate = total.unknown_rate
    unknown = str(total.unknown) if rate is None else f"{total.unknown} ({100 * rate:.1f} %)"
    cost = ", ".join(f"{value:.4f} {currency}" for currency, value in sorted(total.cost.items())) or "-"
    counts = (total.repeated, total.calls, total.attempts, total.cached, total.tokens)
    return (str(total.verdicts), unknown, *map(str, counts), cost)
