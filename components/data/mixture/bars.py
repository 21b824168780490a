"""Horizontal bars as an inline SVG, drawn by hand: the image that prepares data has no plotting library."""

import dataclasses
import html
import math
from collections.abc import Callable, Sequence
from typing import Final

_LEFT: Final = 120
_WIDTH: Final = 560
_RIGHT: Final = 70
"""Room behind the bars for their numbers. Pixels, as all lengths here."""
_BAR: Final = 13
_GAP: Final = 12
_TOP: Final = 26
MOST_SERIES: Final = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Series:
    """Attributes:
    label: of the legend.
    values: at least 0, one a row.
    """

    label: str
    values: Sequence[float]


def draw(
    title: str,
    names: Sequence[str],
    series: Sequence[Series],
    *,
    shown: Callable[[float], str] = "{:,.0f}".format,
    logarithmic: bool = False,
    line: tuple[str, float] | None = None,
) -> str:
    """The figure.

    Args:
        title: text alternative.
        names: of the rows.
        series: at most :data:`MOST_SERIES`; each has a bar in every row, with its number behind it.
        shown: a value as text.
        logarithmic: lengths by log(1 + value).
        line: label and value of a vertical line.
    """
    assert len(series) <= MOST_SERIES
    scale: Callable[[float], float] = math.log1p if logarithmic else float
    values = [value for each in series for value in each.values] + ([line[1]] if line else [])
    most = max((scale(value) for value in values), default=0.0) or 1.0
    room = _WIDTH - _LEFT - _RIGHT

    def length(value: float) -> float:
        return round(room * scale(value) / most, 1)

    row = len(series) * _BAR + _GAP
    height = _TOP + len(names) * row + 4
    parts: list[str] = []
    at = _LEFT
    for number, each in enumerate(series):
        parts.append(f'<rect class="s{number}" x="{at}" y="4" width="11" height="11"/>')
        parts.append(f'<text x="{at + 16}" y="14">{html.escape(each.label)}</text>')
        at += 40 + 7 * len(each.label)
    if line is not None:
        parts.append(f'<text class="soft" x="{at}" y="14">dashed: {html.escape(line[0])} {shown(line[1])}</text>')
    for place, name in enumerate(names):
        top = _TOP + place * row
        middle = top + len(series) * _BAR / 2 + 4
        parts.append(f'<text x="{_LEFT - 8}" y="{middle:g}" text-anchor="end">{html.escape(name)}</text>')
        for number, each in enumerate(series):
            value, y = each.values[place], top + number * _BAR
            wide = length(value)
            parts.append(f'<rect class="s{number}" x="{_LEFT}" y="{y}" width="{wide}" height="{_BAR - 2}"/>')
            parts.append(f'<text class="soft" x="{_LEFT + wide + 5:g}" y="{y + 10}">{shown(value)}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP - 4}" y2="{height}"/>')
    if line is not None:
        x = _LEFT + length(line[1])
        parts.append(f'<line class="cap" x1="{x:g}" x2="{x:g}" y1="{_TOP - 4}" y2="{height}"/>')
    label = html.escape(title, quote=True)
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
