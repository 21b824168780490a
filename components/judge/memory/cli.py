"""``python -m components.judge ledger PATH...``: what a judge was asked, what it cost, and how often it failed."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.contracts import write_table
from components.core.errors import JudgeError
from components.core.store import Store
from components.core.store.disk import translated
from components.judge.memory import segments
from components.judge.memory.ledger import Ledger
from components.judge.memory.tables import COLUMNS
from components.judge.memory.totals import Total, by, by_decile, rows, sample_lengths, totals

_HEAD = ("verdicts", "unknown", "unread", "repeated", "calls", "HTTP", "cached", "tokens", "cost")

_NOTES = """unknown: without a decision; unread: those of them for which a reply came that could not be read;
repeated: took more than one call; cached: answered by our own cache. A panel's verdicts count beside its members'."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print totals of one or more ledgers together; returns the exit status.

    Raises:
        JudgeError: a path is no ledger, or two hold the same one.
        StorageError: a folder has no segment of a ledger, or the tables cannot be written.
        ContractError: a segment is damaged or missing.
    """
    parser = argparse.ArgumentParser(prog="python -m components.judge ledger", description=__doc__)
    parser.add_argument("paths", nargs="+", help="ledger.sqlite, or a folder or URL (file://, s3://) with segments")
    parser.add_argument("--parquet", metavar="FOLDER", help="also write verdicts.parquet and calls.parquet there")
    chosen = parser.parse_args(argv)
    verdicts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for path in chosen.paths:
        ledgers, found_verdicts, found_calls = _read(path)
        for ledger in ledgers:
            if seen.setdefault(ledger, path) != path or chosen.paths.count(path) > 1:
                raise JudgeError(
                    f"{seen[ledger]} and {path} hold the same ledger {ledger}, which would be counted twice",
                    remedy="name one of them",
                )
        verdicts += found_verdicts
        calls += found_calls
    for title, groups in _groups(verdicts, calls):
        print("\n".join(_table(title, groups)), end="\n\n")
    print(_NOTES)
    if chosen.parquet:
        _export(Path(chosen.parquet), {"verdicts": verdicts, "calls": calls})
    return 0


def _read(path: str) -> tuple[list[str], list[dict[str, Any]], list[dict[str, Any]]]:
    """Ids of the ledgers, their verdicts and their calls."""
    if "://" in path or Path(path).is_dir():
        store = Store.open(path if "://" in path else Path(path).absolute().as_uri())
        joined = segments.join(store)
        ledgers = sorted({each.ledger for each in segments.found(store)} - {""})
        return ledgers, rows(joined.execute, "verdicts"), rows(joined.execute, "calls")
    if not Path(path).is_file():
        raise JudgeError(
            "there is no such ledger",
            where=path,
            remedy="a step keeps it as ledger.sqlite in its work folder, and as segments below .../ledger in the store",
        )
    with Ledger(Path(path), make=False) as ledger:
        return [ledger.id], rows(ledger.select, "verdicts"), rows(ledger.select, "calls")


def _export(folder: Path, found: dict[str, list[dict[str, Any]]]) -> None:
    with translated(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, table in found.items():
        path = folder / f"{name}.parquet"
        data = segments.to_table(name, [tuple(row[column] for column in COLUMNS[name]) for row in table])
        with translated(path):
            write_table(path, data, segments.SCHEMAS[name])
        print(f"{len(table)} {name} in {path}")


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
    shares = (_share(total, count) for count in (total.unknown, total.unread, total.repeated))
    cost = ", ".join(f"{value:.4f} {currency}" for currency, value in sorted(total.cost.items())) or "-"
    counts = (total.calls, total.attempts, total.cached, total.tokens)
    return (str(total.verdicts), *shares, *map(str, counts), cost)


def _share(total: Total, count: int) -> str:
    share = total.share(count)
    return "-" if share is None else f"{count} ({100 * share:.1f} %)"
