"""The drawings on workflows. Lines differ by marker and dash, bars by hatch, and each is named, so that nothing is told
by colour alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import matplotlib
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from components.drawing.figure import Cell, Figure
from components.drawing.svg import BASE, EXTRA, GOLD, INK, PROXY, STYLE, TRAINED, render
from components.report.evidence import BASE as BASE_MODEL
from components.report.evidence import TRAINED as TRAINED_MODEL

_WIDTH: Final = 5.0
"""Inches, as in :mod:`components.report.plots`."""
_LOOKS: Final = (
    (TRAINED, "-", "s"),
    (BASE, "--", "o"),
    (GOLD, "-.", "^"),
    (PROXY, ":", "D"),
    (EXTRA[0], (0, (5, 1)), "v"),
    (EXTRA[1], (0, (1, 1)), "P"),
    (EXTRA[2], (0, (3, 1, 1, 1)), "X"),
)
"""Colour, dash and marker of the first, second ... line."""
_HATCHES: Final = {"invalid": (EXTRA[2], "//"), "failed": (TRAINED, ".."), "abstained": (EXTRA[3], "xx")}
_MOST: Final = 12
"""Reasons that are drawn; the data have all."""


def draw(figure: Figure) -> str:
    """The figure as inline SVG."""
    with matplotlib.rc_context(STYLE):
        canvas = _DRAWINGS[figure.key](figure)
        return render(canvas, key=figure.key, title=figure.title, description=figure.alt)


def _canvas(height: float, rows: int = 1, columns: int = 1) -> tuple[Canvas, list[Any]]:
    canvas = Canvas(figsize=(_WIDTH, height), layout="constrained")
    canvas.patch.set_visible(False)
    axes = canvas.subplots(rows, columns, squeeze=False).flatten().tolist()
    for axis in axes:
        axis.patch.set_visible(False)
    return canvas, axes


def _number(cell: Cell) -> float:
    """For matplotlib, which draws nothing at a NaN: an unknown value leaves a gap."""
    return float("nan") if cell is None or isinstance(cell, str) else float(cell)


def _column(figure: Figure, name: str) -> list[float]:
    place = figure.columns.index(name)
    return [_number(row[place]) for row in figure.rows]


def _line(axis: Any, figure: Figure, name: str, look: int, *, band: bool = False) -> None:
    colour, dash, marker = _LOOKS[look % len(_LOOKS)]
    steps = _column(figure, "step")
    if band:
        low, high = _column(figure, f"{name}_low"), _column(figure, f"{name}_high")
        axis.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
    # Of 500 markers none could be told from the next.
    every = max(1, len(steps) // 25)
    label = name.replace("_", " ")
    values = _column(figure, name)
    axis.plot(steps, values, color=colour, linestyle=dash, marker=marker, markersize=4, markevery=every, label=label)


def _steps(axis: Any) -> None:
    axis.set_xlabel("training step")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _validity(figure: Figure) -> Canvas:
    canvas, (axis,) = _canvas(3.2)
    for look, name in enumerate(("valid", "right")):
        _line(axis, figure, name, look, band=True)
    _line(axis, figure, "abstained", 2)
    axis.set_ylim(-0.04, 1.04)
    axis.set_ylabel("share of responses")
    _steps(axis)
    canvas.legend(loc="outside upper center", ncols=3)
    return canvas


def _parts(figure: Figure) -> Canvas:
    canvas, (axis,) = _canvas(3.6)
    axis.axhline(0.0, color=INK, linewidth=0.8)
    for look, name in enumerate(figure.columns[1:]):
        _line(axis, figure, name, look)
    axis.set_ylabel("mean, weighted")
    _steps(axis)
    canvas.legend(loc="outside upper center", ncols=3)
    return canvas


def _failures(figure: Figure) -> Canvas:
    rows = figure.rows[:_MOST]
    canvas, (axis,) = _canvas(0.36 * len(rows) + 1.2)
    for index, row in enumerate(rows):
        colour, hatch = _HATCHES[str(row[1])]
        share, low, high = (_number(cell) for cell in row[3:6])
        axis.barh(index, share, height=0.6, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.8)
        axis.plot([low, high], [index, index], color=INK, linewidth=1.6)
    _names(axis, [str(row[0]) for row in rows])
    axis.set_xlim(0, min(1.0, 1.05 * max(axis.dataLim.x1, 0.01)))
    # A last number under the edge would be cut.
    axis.xaxis.set_major_locator(MaxNLocator(6, prune="upper"))
    axis.set_xlabel("share of responses")
    return canvas


def _cost(figure: Figure) -> Canvas:
    panels = ("calls", "tokens", "seconds")
    canvas, axes = _canvas(4.6, rows=len(panels))
    for look, (axis, name) in enumerate(zip(axes, panels, strict=True)):
        _line(axis, figure, name, look)
        axis.set_ylim(0, 1.1 * axis.dataLim.y1 if axis.dataLim.y1 > 0 else 1)
        axis.set_ylabel(name)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    _steps(axes[-1])
    return canvas


def _buffer(figure: Figure) -> Canvas:
    canvas, (axis,) = _canvas(3.0)
    for look, name in enumerate(figure.columns[1:]):
        _line(axis, figure, name, look)
    axis.set_ylim(bottom=0)
    axis.set_ylabel("entries")
    _steps(axis)
    canvas.legend(loc="outside upper center", ncols=3)
    return canvas


def _models(figure: Figure) -> Canvas:
    canvas, (accuracy, tokens) = _canvas(0.45 * len(figure.rows) + 1.2, columns=2)
    spent = figure.columns.index("tokens_per_right")
    for index, row in enumerate(figure.rows):
        # The trained policy has the first look everywhere, and the one before training the second.
        place = {TRAINED_MODEL: 0, BASE_MODEL: 1}.get(str(row[0]), index)
        colour, _, marker = _LOOKS[place % len(_LOOKS)]
        mean, low, high = (_number(cell) for cell in row[2:5])
        accuracy.plot([low, high], [index, index], color=colour, linewidth=2, solid_capstyle="butt")
        accuracy.plot(mean, index, marker=marker, color=colour, linestyle="none")
        tokens.barh(index, _number(row[spent]), height=0.6, color=colour, edgecolor=INK, linewidth=0.8)
        if row[spent] is None:
            tokens.text(0.02, index, "no right answer", va="center", fontsize=8, transform=tokens.get_yaxis_transform())
    _names(accuracy, [str(row[1]) for row in figure.rows])
    _names(tokens, [""] * len(figure.rows))
    accuracy.set_xlim(-0.03, 1.03)
    accuracy.set_xlabel("accuracy")
    tokens.set_xlim(left=0)
    tokens.set_xlabel("tokens a right answer")
    return canvas


def _gains(figure: Figure) -> Canvas:
    rows = [row for row in figure.rows if row[2] == "weighted_4_3_3"]
    canvas, (axis,) = _canvas(0.42 * len(rows) + 1.0)
    axis.axvline(0.0, color=INK, linewidth=1)
    for index, row in enumerate(rows):
        gain, low, high = (_number(cell) for cell in row[6:9])
        axis.plot([low, high], [index, index], color=TRAINED, linewidth=2, solid_capstyle="butt")
        axis.plot(gain, index, marker="s", color=TRAINED, linestyle="none")
    _names(axis, [f"less {row[1]}" for row in rows])
    axis.set_xlabel("trained less the other, accuracy")
    return canvas


def _names(axis: Any, names: Sequence[str]) -> None:
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)


_DRAWINGS: Final[Mapping[str, Callable[[Figure], Canvas]]] = {
    "workflow_validity": _validity,
    "workflow_reward_parts": _parts,
    "workflow_failures": _failures,
    "workflow_cost": _cost,
    "workflow_buffer": _buffer,
    "workflow_models": _models,
    "workflow_gains": _gains,
}
