"""Plain text that reads the same on a terminal, in a pipe and to a screen reader: words and numbers, no colour."""

from collections.abc import Sequence

UNKNOWN = "-"


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[place]) for row in table) for place in range(len(header))]
    return [
        "  ".join(_fit(cell, width, place) for place, (cell, width) in _cells(row, widths)).rstrip() for row in table
    ]


def _cells(row: Sequence[str], widths: Sequence[int]) -> "enumerate[tuple[str, int]]":
    return enumerate(zip(row, widths, strict=True))


def _fit(cell: str, width: int, place: int) -> str:
    return cell.rjust(width) if place else cell.ljust(width)


def share(part: int, whole: int) -> str:
    """``25 % (1 of 4)``; what is a share of nothing is unknown."""
    return f"{100 * part / whole:.0f} % ({part} of {whole})" if whole else UNKNOWN


def number(value: float | None, digits: int = 1) -> str:
    """With so many decimals."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def money(value: float | None) -> str:
    """An amount in the price's currency, with two digits that count where it is small."""
    return UNKNOWN if value is None else f"{value:.2g}" if 0 < abs(value) < 0.1 else f"{value:.2f}"


def percent(value: float | None) -> str:
    """A share in percent."""
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def between(low: float | None, high: float | None, *, scale: float = 100.0, digits: int = 1) -> str:
    """Ends of an interval."""
    if low is None or high is None:
        return UNKNOWN
    return f"{scale * low:.{digits}f} to {scale * high:.{digits}f}"
