"""``python -m components.judge ledger PATH...``: what a judge was asked, what it cost, and how often it failed."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.contracts import write_table
from components.core.errors import JudgeError
from components.core.store import Store
from components.core.store.disk import translated
from components.judge.canary import is_canary
from components.judge.memory import segments
from components.judge.memory.ledger import Ledger
from components.judge.memory.tables import COLUMNS
from components.judge.memory.totals import Total, by, by_decile, rows, sample_lengths, totals

_HEAD = (
    *("verdicts", "unknown", "unread", "contradictory"),
    *("calls", "again", "cached", "HTTP", "repeated", "tokens", "cost"),
)

_NOTES = """Verdicts: unknown, without a decision; unread and contradictory, those of them for which a reply came that
could not be read, or that decided in two ways. Calls are questions: again, for what an earlier reply had left open;
cached, answered by our own cache. HTTP calls: repeated, those beyond the first of their question. A panel's verdicts
count beside its members'."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print totals of one or more ledgers together; returns the exit status.

    Raises:
        JudgeError: a path is no ledger, or two hold the same one.
        StorageError: a folder has no segment of a ledger, or the tables cannot be written.
        ContractError: a segment is damaged or missing.
    """
    parser = argparse.ArgumentParser(prog="python -m components.judge ledger", description=__doc__)
    parser.add_argument(
        "paths", nargs="+", help="ledger.sqlite, or a folder that holds one or a URL (file://, s3://) with segments"
    )
    parser.add_argument("--parquet", metavar="FOLDER", help="also write every table as parquet there")
    parser.add_argument(
        "--failures",
        metavar="N",
        type=int,
        nargs="?",
        const=20,
        help="also print the newest N failures (20), with replies",
    )
    chosen = parser.parse_args(argv)
    paths = [each for path in chosen.paths for each in _ledgers_in(path)]
    found: dict[str, list[dict[str, Any]]] = {table: [] for table in COLUMNS}
    seen: dict[str, str] = {}
    for path in paths:
        ledgers, tables = _read(path)
        for ledger in ledgers:
            if seen.setdefault(ledger, path) != path or paths.count(path) > 1:
                raise JudgeError(
                    f"{seen[ledger]} and {path} hold the same ledger {ledger}, which would be counted twice",
                    remedy="name one of them",
                )
        for table, rows_ in tables.items():
            found[table] += rows_
    for title, groups in _groups(found["verdicts"], found["calls"]):
        print("\n".join(_table(title, groups)), end="\n\n")
    print(_NOTES)
    if chosen.failures is not None:
        print("\n".join(_failures(found["failures"], chosen.failures)))
    if chosen.parquet:
        _export(Path(chosen.parquet), found)
    return 0


def _ledgers_in(path: str) -> list[str]:
    """The path itself; where it is a folder of a step's work, the ledgers that lie below it."""
    folder = Path(path)
    if "://" in path or not folder.is_dir() or segments.found(Store.open(folder.absolute().as_uri())):
        return [path]
    below = sorted(str(each) for each in folder.rglob("ledger.sqlite"))
    if not below:
        raise JudgeError(
            "neither a ledger.sqlite nor a segment of a ledger lies below this folder",
            where=path,
            remedy="name STATE/work/EXPERIMENT/STEP for a step at work, or STORE/EXPERIMENT for what steps shipped",
        )
    return below


def _failures(found: list[dict[str, Any]], most: int) -> list[str]:
    """The newest failures for people: why, about which sample, and how the reply begins."""
    lines = [f"{len(found)} failures; the newest {min(most, len(found))}:"]
    for row in sorted(found, key=lambda row: row["time"])[-most:] if most > 0 else []:
        body = row["body"]
        said = "" if not body else " ".join(bytes(body)[:400].decode("utf-8", "replace").split())[:200]
        lines.append(f"  {row['sample_id']}: {row['detail']}" + (f"\n    it said: {said!r}" if said else ""))
    return lines


def _read(path: str) -> tuple[list[str], dict[str, list[dict[str, Any]]]]:
    """Ids of the ledgers, and their rows by table."""
    if "://" in path or Path(path).is_dir():
        store = Store.open(path if "://" in path else Path(path).absolute().as_uri())
        joined = segments.join(store)
        ledgers = sorted({each.ledger for each in segments.found(store)} - {""})
        return ledgers, {table: rows(joined.execute, table) for table in COLUMNS}
    if not Path(path).is_file():
        raise JudgeError(
            "there is no such ledger",
            where=path,
            remedy="a step keeps it as ledger.sqlite in its work folder, and as segments below .../ledger in the store",
        )
    if path.endswith(".parquet"):
        raise JudgeError(
            "this is a published table, and no ledger",
            where=path,
            remedy="name the folder STORE/EXPERIMENT, where the ledger that it was taken from lies in segments",
        )
    with Ledger(Path(path), make=False) as ledger:
        return [ledger.id], {table: rows(ledger.select, table) for table in COLUMNS}


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
    found = [
        ("judge", totals(verdicts, calls, by("judge"))),
        ("protocol", totals(verdicts, calls, by("protocol"))),
        ("reason", totals(verdicts, calls, by("reason"))),
    ]
    if any(is_canary(row["sample_id"]) for row in (*verdicts, *calls)):
        found.append(("about", totals(verdicts, calls, _about)))
        # They are the shortest of all, and no response of a policy.
        verdicts = [row for row in verdicts if not is_canary(row["sample_id"])]
        calls = [row for row in calls if not is_canary(row["sample_id"])]
    return [*found, ("response length, decile", totals(verdicts, calls, by_decile(sample_lengths(verdicts))))]


def _about(row: dict[str, Any]) -> str:
    return "canaries" if is_canary(row["sample_id"]) else "responses"


def _table(title: str, groups: dict[str, Total]) -> list[str]:
    lines = [(title, *_HEAD), *((name, *_cells(total)) for name, total in groups.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]


def _cells(total: Total) -> tuple[str, ...]:
    cost = ", ".join(f"{value:.4f} {currency}" for currency, value in sorted(total.cost.items())) or "-"
    return (
        str(total.verdicts),
        *(_share(count, total.verdicts) for count in (total.unknown, total.unread, total.contradictory)),
        str(total.calls),
        *(_share(count, total.calls) for count in (total.again, total.cached)),
        str(total.attempts),
        _share(total.repeated, total.attempts),
        str(total.tokens),
        cost,
    )


def _share(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.1f} %)" if whole else "-"
