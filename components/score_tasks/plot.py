"""The accuracies with their intervals as a drawing that needs no style sheet."""

import io
from collections.abc import Mapping
from typing import Any, Final

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

_LOOK: Final = {
    "base": ("#0072b2", "o", "none"),
    "trained": ("#d55e00", "s", "#d55e00"),
    "direct": ("#009e73", "^", "none"),
    "hand_written": ("#cc79a7", "v", "none"),
    "random_valid": ("#56b4e9", "D", "none"),
}
"""Colours of Okabe and Ito (2008), which colour-blind readers tell apart; markers differ too."""
_STYLE: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tasks",
    "font.family": ["sans-serif"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#c9cacb",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def draw(models: Mapping[str, Mapping[str, Any]]) -> bytes:
    """An SVG file, the same bytes for the same figures.

    Args:
        models: model -> the object of its ``results.json``.
    """
    with matplotlib.rc_context(_STYLE):
        names = [entry["title"] for entry in next(iter(models.values()))["datasets"]]
        canvas = Figure(figsize=(6.0, 0.5 * len(names) + 1.3), layout="constrained")
        canvas.patch.set_facecolor("white")
        axis = canvas.subplots()
        for place, (model, result) in enumerate(models.items()):
            colour, marker, fill = _LOOK.get(model, _LOOK["trained"])
            # Two stand 0.28 apart; more share 0.7 of a row.
            apart = min(0.28, 0.7 / max(1, len(models) - 1))
            shift = apart * (place - (len(models) - 1) / 2)
            for row, entry in enumerate(result["datasets"]):
                value, ends = entry["metrics"]["accuracy"], entry["intervals"]["accuracy"]
                if ends is not None:
                    axis.plot(ends, [row + shift] * 2, color=colour, linewidth=2)
                if value is not None:
                    axis.plot(value, row + shift, marker=marker, color=colour, markerfacecolor=fill, linestyle="none")
            axis.plot([], [], marker=marker, color=colour, markerfacecolor=fill, linestyle="none", label=model)
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_xlim(-0.02, 1.02)
        axis.set_xlabel("accuracy")
        canvas.legend(loc="outside upper center", ncols=len(models))
        out = io.BytesIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(canvas).print_svg(out, metadata=nothing)
    return out.getvalue()
