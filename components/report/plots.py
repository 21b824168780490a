"""The drawings. Each takes a figure's rows, so that what is seen is what is downloaded."""

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from components.drawing.figure import Cell, Figure
from components.drawing.svg import BASE, EXTRA, GOLD, INK, PROXY, STYLE, TRAINED, render

WIDTH = 5.0
"""Inches; narrow, so that the text stays readable on a phone."""

_LOOK: Mapping[str, tuple[str, str, str, str]] = {
    "proxy": (PROXY, "-", "o", "judge's reward"),
    "gold": (GOLD, "--", "s", "gold"),
    "echo": (TRAINED, "-.", "^", "echoes the criterion"),
    "words": (BASE, ":", "D", "words"),
}
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo")
_PHASE_COLOURS = (BASE, EXTRA[0], GOLD, EXTRA[1], EXTRA[2], TRAINED, EXTRA[3])


def draw(figure: Figure) -> str:
    """The figure as inline SVG."""
    with matplotlib.rc_context(STYLE):
        canvas = _DRAWINGS[figure.key](figure)
        return render(canvas, key=figure.key, title=figure.title, description=figure.alt)


def _canvas(height: float, panels: int = 1) -> tuple[Canvas, Any]:
    canvas = Canvas(figsize=(WIDTH, height), layout="constrained")
    canvas.patch.set_visible(False)
    axes = canvas.subplots(panels, 1, sharex=panels > 1)
    for axis in [axes] if panels == 1 else axes:
        axis.patch.set_visible(False)
    return canvas, axes


def _number(cell: Cell) -> float:
    """For matplotlib, which draws nothing at a NaN: an unknown value leaves a gap."""
    return float("nan") if cell is None or isinstance(cell, str) else float(cell)


def _levels(figure: Figure) -> Canvas:
    canvas, axis = _canvas(0.55 * len(figure.rows) + 1.1)
    for index, row in enumerate(figure.rows):
        for first, shift, colour, marker, label in ((2, -0.14, BASE, "o", "base"), (5, 0.14, TRAINED, "s", "trained")):
            mean, low, high = (_number(cell) for cell in row[first : first + 3])
            axis.plot([low, high], [index + shift] * 2, color=colour, linewidth=2, solid_capstyle="butt")
            axis.plot(
                mean,
                index + shift,
                marker=marker,
                color=colour,
                markerfacecolor="none" if marker == "o" else colour,
                markeredgewidth=1.8,
                linestyle="none",
                label=label if index == 0 else None,
            )
    _name_rows(axis, figure)
    # Unclipped rewards go below 0.
    axis.set_xlim(min(-0.03, axis.dataLim.x0 - 0.03), 1.03)
    axis.set_xlabel("share, or reward")
    canvas.legend(loc="outside upper center", ncols=2)
    return canvas


def _gains(figure: Figure) -> Canvas:
    canvas, axis = _canvas(0.42 * len(figure.rows) + 0.8)
    axis.axvline(0.0, color=INK, linewidth=1)
    for index, row in enumerate(figure.rows):
        mean, low, high = (_number(cell) for cell in row[2:5])
        axis.plot([low, high], [index, index], color=TRAINED, linewidth=2, solid_capstyle="butt")
        axis.plot(mean, index, marker="s", color=TRAINED, linestyle="none")
    _name_rows(axis, figure)
    axis.set_xlabel("trained less base")
    return canvas


def _parts(figure: Figure) -> Canvas:
    canvas, axis = _canvas(0.48 * len(figure.rows) + 0.8)
    looks = {"gold": (GOLD, ""), "echo": (TRAINED, "//"), "neither": (EXTRA[2], ".."), "gold_unknown": (EXTRA[1], "xx")}
    for index, row in enumerate(figure.rows):
        colour, hatch = looks[str(row[0])]
        mean, low, high = (_number(cell) for cell in row[2:5])
        axis.barh(index, mean, height=0.6, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.8)
        axis.plot([low, high], [index, index], color=INK, linewidth=1.6)
    axis.axvline(0.0, color=INK, linewidth=1)
    _name_rows(axis, figure)
    axis.set_xlabel("part of the gain of the judge's reward")
    return canvas


def _name_rows(axis: Any, figure: Figure) -> None:
    axis.set_yticks(range(len(figure.rows)), [str(row[1]) for row in figure.rows])
    axis.set_ylim(len(figure.rows) - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)


def _series(axis: Any, figure: Figure, column: int) -> None:
    name = figure.columns[column]
    colour, style, marker, label = _LOOK[name]
    label = figure.names.get(name, label)
    steps = [_number(row[0]) for row in figure.rows]
    means = [_number(row[column]) for row in figure.rows]
    errors = [_number(row[column + 1]) for row in figure.rows]
    axis.fill_between(
        steps,
        [mean - error for mean, error in zip(means, errors, strict=True)],
        [mean + error for mean, error in zip(means, errors, strict=True)],
        color=colour,
        alpha=0.2,
        linewidth=0,
    )
    axis.plot(steps, means, color=colour, linestyle=style, marker=marker, markersize=4, label=label)


def _proxy_gold(figure: Figure) -> Canvas:
    canvas, axis = _canvas(3.2)
    for column in range(1, len(figure.columns), 3):
        _series(axis, figure, column)
    axis.set_ylim(min(-0.04, axis.dataLim.y0 - 0.04), 1.04)
    axis.set_ylabel("mean over rollouts")
    _step_axis(axis)
    canvas.legend(loc="outside upper center", ncols=2)
    return canvas


def _echo_length(figure: Figure) -> Canvas:
    columns = range(1, len(figure.columns), 3)
    canvas, found = _canvas(2.0 * len(columns) + (0.4 if len(columns) == 1 else 0.0), panels=len(columns))
    axes = [found] if len(columns) == 1 else list(found)
    for axis, column in zip(axes, columns, strict=True):
        _series(axis, figure, column)
    if len(axes) > 1:
        axes[0].set_ylim(-0.04, 1.04)
        axes[0].set_ylabel("echo, share")
    # From zero, and with room for the topmost marker.
    axes[-1].set_ylim(0, axes[-1].dataLim.y1 * 1.1 or 1)
    axes[-1].set_ylabel("words")
    _step_axis(axes[-1])
    return canvas


def _step_axis(axis: Any) -> None:
    axis.set_xlabel("training step")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _step_times(figure: Figure) -> Canvas:
    canvas, axis = _canvas(3.4)
    steps = [_number(row[0]) for row in figure.rows]
    heights = [0.0] * len(steps)
    phases = [column for column in range(1, len(figure.columns)) if figure.columns[column] != "whole_seconds"]
    for index, column in enumerate(phases):
        # An unrecorded phase adds no height to the pile; the table says that it is not recorded.
        values = [0.0 if row[column] is None else _number(row[column]) for row in figure.rows]
        axis.bar(
            steps,
            values,
            bottom=heights,
            width=0.8,
            color=_PHASE_COLOURS[index],
            hatch=_HATCHES[index],
            edgecolor=INK,
            linewidth=0.5,
            label=figure.columns[column].removesuffix("_seconds").replace("_", " "),
        )
        heights = [low + value for low, value in zip(heights, values, strict=True)]
    if "whole_seconds" in figure.columns:
        column = figure.columns.index("whole_seconds")
        whole = [_number(row[column]) for row in figure.rows]
        axis.plot(steps, whole, color=INK, marker="_", markersize=8, linestyle="none", label="whole step")
    axis.set_ylabel("seconds")
    axis.set_ylim(bottom=0)
    _step_axis(axis)
    canvas.legend(loc="outside upper center", ncols=3)
    return canvas


_DRAWINGS: Mapping[str, Callable[[Figure], Canvas]] = {
    "heldout_levels": _levels,
    "heldout_gains": _gains,
    "judge_gain_parts": _parts,
    "proxy_gold_by_step": _proxy_gold,
    "echo_length_by_step": _echo_length,
    "step_times": _step_times,
}
