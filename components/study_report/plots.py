"""The drawings. Each takes a figure's rows, so that what is seen is what is downloaded.

Colour never stands alone: lines differ in dash and marker, marks in shape and filling, cells carry their number.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from components.drawing.figure import Cell, Figure
from components.drawing.svg import BASE, EXTRA, GOLD, GRID, INK, PROXY, STYLE, TRAINED, render
from components.study_report.figures import Drawn

WIDTH = 5.0
"""Inches; narrow, so that the text stays readable on a phone."""
_COLOURS = (BASE, TRAINED, GOLD, PROXY, *EXTRA)
_DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_MODES: Mapping[str, tuple[str, str]] = {"pairwise": (BASE, "o"), "pointwise": (TRAINED, "s"), "binary": (GOLD, "^")}
_LABEL = 26
"""Characters of a label beside an axis."""


def draw(drawn: Drawn) -> str:
    """The figure as inline SVG."""
    with matplotlib.rc_context(STYLE):
        canvas = _DRAWINGS[drawn.kind](drawn.figure)
        return render(canvas, key=drawn.figure.key, title=drawn.figure.title, description=drawn.figure.alt)


def _canvas(height: float, **layout: Any) -> tuple[Canvas, Any]:
    canvas = Canvas(figsize=(WIDTH, height), layout="constrained")
    canvas.patch.set_visible(False)
    axis = canvas.subplots(**layout)
    axis.patch.set_visible(False)
    return canvas, axis


def _number(cell: Cell) -> float:
    """For matplotlib, which draws nothing at a NaN: an unknown value leaves a gap."""
    return float("nan") if cell is None or isinstance(cell, str) else float(cell)


def _look(place: int) -> dict[str, Any]:
    """Colour, dash and marker of the ``place``-th line; no two of the first 40 are alike in dash and marker."""
    return {
        "color": _COLOURS[place % len(_COLOURS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "marker": _MARKERS[place % len(_MARKERS)],
    }


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "\u2026"


def _radar(figure: Figure) -> Canvas:
    probes = list(dict.fromkeys(str(row[0]) for row in figure.rows))
    modes = [mode for mode in _MODES if any(row[2] == mode for row in figure.rows)]
    canvas, axis = _canvas(5.4, subplot_kw={"projection": "polar"})
    axis.set_theta_offset(math.pi / 2)
    axis.set_theta_direction(-1)
    turn = 2 * math.pi / len(probes)
    ends = [abs(_number(cell)) for row in figure.rows for cell in row[4:7]]
    reach = min(1.0, 1.15 * max((end for end in ends if math.isfinite(end)), default=0.5)) or 0.5
    for place, mode in enumerate(modes):
        colour, marker = _MODES[mode]
        points = []
        for row in (row for row in figure.rows if row[2] == mode):
            # Modes stand side by side on a spoke, so that none hides another.
            angle = probes.index(str(row[0])) * turn + (place - (len(modes) - 1) / 2) * min(0.09, turn / 5)
            mean, low, high = (_number(cell) for cell in row[4:7])
            axis.plot([angle, angle], [low, high], color=colour, linewidth=2, solid_capstyle="butt")
            filled = colour if row[12] == "yes" else "none"
            axis.plot(angle, mean, marker=marker, color=colour, markerfacecolor=filled, markeredgewidth=1.6, ls="none")
            points.append((angle, mean))
        known = [point for point in points if math.isfinite(point[1])]
        if len(known) > 2:
            ring = [*known, known[0]]
            angles, means = [angle for angle, _ in ring], [mean for _, mean in ring]
            axis.plot(angles, means, color=colour, linewidth=0.9, linestyle=_DASHES[place], alpha=0.8)
        axis.plot([], [], color=colour, marker=marker, linestyle=_DASHES[place], label=mode)
    circle = [2 * math.pi * step / 180 for step in range(181)]
    axis.plot(circle, [0.0] * len(circle), color=INK, linewidth=1.8)
    axis.set_ylim(-reach, reach)
    axis.set_yticks(
        [-reach / 2, 0.0, reach / 2], [f"{-reach / 2:+.2f}".replace("-", "\u2212"), "0", f"{reach / 2:+.2f}"]
    )
    axis.tick_params(axis="y", labelsize=8)
    axis.set_xticks([place * turn for place in range(len(probes))], [name.replace("_", "\n") for name in probes])
    axis.tick_params(axis="x", labelsize=8.5, pad=8)
    axis.spines["polar"].set_color(GRID)
    canvas.legend(loc="outside lower center", ncols=len(modes))
    return canvas


def _band(axis: Any, rows: Sequence[tuple[Cell, ...]], first: int, step: int, look: Mapping[str, Any]) -> None:
    steps = [_number(row[step]) for row in rows]
    means, lows, highs = ([_number(row[first + place]) for row in rows] for place in range(3))
    axis.fill_between(steps, lows, highs, color=look["color"], alpha=0.14, linewidth=0)
    axis.plot(steps, means, markersize=4.5, **look)


def _drift(figure: Figure) -> Canvas:
    conditions = list(dict.fromkeys(str(row[1]) for row in figure.rows))
    canvas, axis = _canvas(2.9 + 0.2 * len(conditions))
    arms = list(dict.fromkeys(str(row[0]) for row in figure.rows))
    steps = [_number(row[3]) for row in figure.rows]
    apart = 0.011 * ((max(steps) - min(steps)) or 1.0)
    for place, arm in enumerate(arms):
        rows = sorted((row for row in figure.rows if row[0] == arm), key=lambda row: _number(row[3]))
        look = _look(conditions.index(str(rows[0][1])))
        # Side by side, so that one arm's interval does not hide another's.
        places = [_number(row[3]) + (place - (len(arms) - 1) / 2) * apart for row in rows]
        means, lows, highs = ([_number(row[column]) for row in rows] for column in (4, 5, 6))
        axis.vlines(places, lows, highs, color=look["color"], linewidth=1.3, alpha=0.75)
        axis.plot(places, means, markersize=4.5, linewidth=1.3, **look)
    for place, name in enumerate(conditions):
        axis.plot([], [], label=name, **_look(place))
    _step_axis(axis)
    canvas.legend(loc="outside upper left", ncols=1, fontsize=9)
    return canvas


def _rewards(figure: Figure) -> Canvas:
    canvas, axis = _canvas(3.1)
    looks = (("proxy", "reward", PROXY, "-", "o"), ("gold", "gold", GOLD, "--", "s"))
    for series, label, colour, dash, marker in looks:
        rows = [row for row in figure.rows if row[1] == series]
        if any(row[2] is not None for row in rows):
            _band(axis, rows, 2, 0, {"color": colour, "linestyle": dash, "marker": marker, "label": label})
    if figure.names.get("step"):
        axis.axvline(float(figure.names["step"]), color=INK, linewidth=1.4, linestyle=(0, (2, 2)), label="they part")
        if figure.names["low"] and figure.names["high"]:
            axis.axvspan(float(figure.names["low"]), float(figure.names["high"]), color=INK, alpha=0.08, linewidth=0)
    _step_axis(axis)
    axis.set_ylabel("mean over rollouts")
    canvas.legend(loc="outside upper left", ncols=3)
    return canvas


def _step_axis(axis: Any) -> None:
    axis.set_xlabel("training step")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _heat(figure: Figure) -> Canvas:
    arms = list(dict.fromkeys(str(row[0]) for row in figure.rows))
    judges = list(dict.fromkeys(str(row[1]) for row in figure.rows))
    canvas, axis = _canvas(0.42 * len(arms) + 1.5)
    numbers = [abs(_number(row[3])) for row in figure.rows]
    largest = max((number for number in numbers if math.isfinite(number)), default=0.0) or 1.0
    for row in figure.rows:
        number = _number(row[3])
        y, x = arms.index(str(row[0])), judges.index(str(row[1]))
        box = {"height": 0.94, "width": 0.96, "left": x - 0.48, "edgecolor": GRID, "linewidth": 0.8}
        if math.isfinite(number):
            # Tints stay light, so that the number on them stays readable; a loss is hatched as well.
            colour, hatch = (BASE, "") if number >= 0 else (TRAINED, "///")
            axis.barh(y, facecolor=(colour), alpha=0.08 + 0.34 * abs(number) / largest, **box)
            axis.barh(y, facecolor="none", hatch=hatch, alpha=0.5, **box)
        sign = "unknown" if not math.isfinite(number) else f"{number:+.2f}".replace("-", "\u2212")
        axis.text(x, y, sign, ha="center", va="center", fontsize=9 if math.isfinite(number) else 7.5)
    axis.set_yticks(range(len(arms)), [_short(arm) for arm in arms])
    rotated = len(judges) > 3
    axis.set_xticks(range(len(judges)), [_short(judge) for judge in judges], rotation=35 if rotated else 0)
    if rotated:
        for label in axis.get_xticklabels():
            label.set_ha("right")
    axis.set_xlim(-0.55, len(judges) - 0.45)
    axis.set_ylim(len(arms) - 0.45, -0.55)
    axis.grid(visible=False)
    axis.set_xlabel("scored by")
    axis.set_ylabel("policy")
    return canvas


def _prediction(figure: Figure) -> Canvas:
    judges = list(dict.fromkeys(str(row[1]) for row in figure.rows))
    canvas, axis = _canvas(3.0 + 0.2 * len(judges))
    axis.axhline(0.0, color=INK, linewidth=0.8)
    axis.axvline(0.0, color=INK, linewidth=0.8)
    for place, judge in enumerate(judges):
        look = _look(place)
        for row in (row for row in figure.rows if row[1] == judge):
            bias, bias_low, bias_high = (_number(cell) for cell in row[3:6])
            drift, drift_low, drift_high = (_number(cell) for cell in row[7:10])
            axis.plot([bias_low, bias_high], [drift, drift], color=look["color"], linewidth=1.2, alpha=0.7)
            axis.plot([bias, bias], [drift_low, drift_high], color=look["color"], linewidth=1.2, alpha=0.7)
            axis.plot(bias, drift, color=look["color"], marker=look["marker"], markersize=7, linestyle="none")
        axis.plot([], [], color=look["color"], marker=look["marker"], markersize=7, linestyle="none", label=judge)
    axis.set_xlabel(figure.names["x"])
    axis.set_ylabel(figure.names["y"])
    canvas.legend(loc="outside upper left", ncols=1, fontsize=9)
    return canvas


_DRAWINGS: Mapping[str, Callable[[Figure], Canvas]] = {
    "radar": _radar,
    "drift": _drift,
    "rewards": _rewards,
    "heat": _heat,
    "prediction": _prediction,
}
