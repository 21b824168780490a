"""Two files of scores of the same rows: which run is better, and whether that is more than chance."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from components.core.columns import aligned
from components.core.errors import ContractError
from components.core.statistics import Comparison, compare
from components.core.unique_json import loads
from components.tasks.statistics import Sampling

_NO_METRIC: Final = frozenset({"id", "sample", "reason"})

Values = dict[str, dict[str, list[float | None]]]
"""Metric -> id -> values."""


def compare_files(one: Path, other: Path, sampling: Sampling) -> tuple[str, dict[str, Comparison]]:
    """The data set, and of each metric the paired change from ``one`` to ``other``.

    Raises:
        ContractError: a file is no file of scores, they are of two data sets, or share no id.
    """
    (dataset, first), (theirs, second) = read_scores(one), read_scores(other)
    if dataset != theirs:
        raise ContractError(f"one file is of {dataset}, the other of {theirs}", where=f"{one}, {other}")
    shared = [metric for metric in first if metric in second]
    if not shared or not any(set(first[metric]) & set(second[metric]) for metric in shared):
        raise ContractError("the files share no id", where=f"{one}, {other}", remedy="compare runs on the same rows")
    return dataset, {
        metric: compare(
            first[metric],
            second[metric],
            resamples=sampling.resamples,
            confidence=sampling.confidence,
            seed=sampling.seed,
        )
        for metric in shared
    }


def read_scores(path: Path) -> tuple[str, Values]:
    """The data set and the values of a file that this command wrote.

    Raises:
        ContractError: it is another file, or is not whole.
    """
    where = str(path)
    try:
        lines = [loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    except OSError as error:
        raise ContractError(f"cannot be read: {error.strerror}", where=where) from error
    except ContractError:
        raise
    except (ValueError, RecursionError) as error:
        raise ContractError(f"no JSON lines: {error}", where=where) from error
    last = lines[-1] if lines else None
    if not isinstance(last, dict) or not isinstance(last.get("summary"), dict):
        raise ContractError("the last line is no summary", where=where, remedy="score the predictions again")
    values: Values = {}
    for number, row in enumerate(lines[:-1], start=1):
        if not isinstance(row, dict) or "id" not in row:
            raise ContractError("a row without id", where=f"{where}, line {number}")
        for metric, value in _metrics(row, f"{where}, line {number}").items():
            values.setdefault(metric, {}).setdefault(f"{row['id']!r}", []).append(value)
    return str(last["summary"].get("dataset")), values


def table(comparisons: Mapping[str, Comparison]) -> str:
    """The comparisons for a terminal, in percent."""
    rows = [("metric", "n", "first", "second", "change", "interval", "better", "worse", "p")]
    for metric, found in comparisons.items():
        ends = "none" if found.low is None or found.high is None else f"{_points(found.low)} to {_points(found.high)}"
        p = "unknown" if found.sign_p is None else f"{found.sign_p:.3g}"
        shares = (_share(found.base), _share(found.trained), _points(found.gain))
        rows.append((metric, str(found.n), *shares, ends, str(found.rose), str(found.fell), p))
    return "\n".join(aligned(rows))


def _metrics(row: Mapping[str, Any], where: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, value in row.items():
        if name in _NO_METRIC:
            continue
        if value is not None and not isinstance(value, int | float):
            raise ContractError(f"{name!r} is no number: {value!r}"[:200], where=where)
        found[name] = None if value is None else float(value)
    return found


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.2f}"


def _points(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:+.2f}"
