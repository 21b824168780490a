"""Sums over a ledger: what was asked, what it cost, and how often the judge failed, also by length of the response."""

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from components.judge.memory.deciles import decile, shortest
from components.judge.memory.tables import COLUMNS
from components.judge.verdict import PARSE_REASONS, UnknownReason

_UNREAD: Final = PARSE_REASONS - {UnknownReason.CONTRADICTORY}
_AGAIN: Final = frozenset({"again", "single"})
"""Purposes of calls for what an earlier reply had left open."""


@dataclasses.dataclass(slots=True)
class Total:
    """Sums over one group of verdicts and calls.

    Attributes:
        verdicts: rows of verdicts.
        unknown: those without a decision.
        unread: those of ``unknown`` for which a reply came that could not be read.
        contradictory: those of ``unknown`` that a reply decided in two ways.
        calls: questions put to the judge, answered from our cache or not.
        again: those of ``calls`` for what an earlier reply had left open.
        attempts: HTTP calls, repetitions included.
        repeated: those of ``attempts`` beyond the first of their question.
        cached: questions that our cache answered.
        tokens: of prompts and replies, as the server counted.
        cost: by currency.
    """

    verdicts: int = 0
    unknown: int = 0
    unread: int = 0
    contradictory: int = 0
    calls: int = 0
    again: int = 0
    attempts: int = 0
    repeated: int = 0
    cached: int = 0
    tokens: int = 0
    cost: dict[str, float] = dataclasses.field(default_factory=dict)


Key = Callable[[dict[str, Any]], str]


def rows(select: Callable[[str], Iterable[Sequence[Any]]], table: str) -> list[dict[str, Any]]:
    """A table of a ledger (``ledger.select``) or of joined segments (``db.execute``), one dictionary a row."""
    names = COLUMNS[table]
    found = select(f"SELECT {', '.join(names)} FROM {table} ORDER BY rowid")
    return [dict(zip(names, row, strict=True)) for row in found]


def totals(verdicts: Iterable[dict[str, Any]], calls: Iterable[dict[str, Any]], key: Key) -> dict[str, Total]:
    """Totals by the value of ``key``, in the order of its values.

    Args:
        verdicts: rows of the table ``verdicts``.
        calls: rows of the table ``calls``.
        key: the group of a row of either table.
    """
    found: dict[str, Total] = defaultdict(Total)
    for row in verdicts:
        total = found[key(row)]
        total.verdicts += 1
        total.unknown += row["status"] == "unknown"
        total.unread += row["reason"] in _UNREAD
        total.contradictory += row["reason"] == UnknownReason.CONTRADICTORY
    for row in calls:
        total = found[key(row)]
        total.calls += 1
        total.again += row["purpose"] in _AGAIN
        total.attempts += row["attempts"]
        total.repeated += max(0, row["attempts"] - 1)
        total.cached += bool(row["from_cache"])
        total.tokens += row["prompt_tokens"] + row["completion_tokens"]
        if row["cost"] is not None:
            total.cost[row["currency"]] = total.cost.get(row["currency"], 0.0) + row["cost"]
    return {name: found[name] for name in sorted(found)}


def by(column: str) -> Key:
    """Groups by a column of text; rows without a value are together."""
    return lambda row: str(row[column]) if row[column] is not None else "-"


def by_decile(lengths: Sequence[int]) -> Key:
    """Groups by the decile of ``response_chars`` among ``lengths``, one length a sample; equal ones share the lowest.

    Each is named by its number and the characters that it begins at.
    """
    ordered = sorted(lengths)

    def named(row: dict[str, Any]) -> str:
        length = row["response_chars"]
        if length is None or not ordered:
            return "-"
        number = decile(ordered, length)
        return f"{number:2d} from {shortest(ordered, number)}"

    return named


def sample_lengths(verdicts: Iterable[dict[str, Any]]) -> list[int]:
    """Characters of each sample's response, each sample once. Ledgers of several runs may use a name twice."""
    return [length for _, length in {(row["sample_id"], row["response_chars"]) for row in verdicts}]
