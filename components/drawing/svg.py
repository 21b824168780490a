"""From a matplotlib figure to an inline SVG: the same bytes each time, colours from the page's style sheet."""

import html
import io
import re
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#101112"
GRID = "#c9cacb"
BASE = "#0072b2"
TRAINED = "#d55e00"
GOLD = "#009e73"
PROXY = "#332288"
EXTRA = ("#e69f00", "#cc79a7", "#56b4e9", "#999933")

_VARIABLES = {
    INK: "currentColor",
    GRID: "var(--grid)",
    BASE: "var(--base)",
    TRAINED: "var(--trained)",
    GOLD: "var(--gold)",
    PROXY: "var(--proxy)",
    **{colour: f"var(--extra-{number})" for number, colour in enumerate(EXTRA)},
}
"""Drawn colour -> what the page replaces it by, so that one drawing serves light, dark and paper. The colours are those
of Okabe and Ito (2008) and Tol (2021), which colour-blind readers tell apart; lines, markers and hatches differ too."""

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    # Names and criteria are text, whatever signs are in them.
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}


def render(figure: Figure, *, key: str, title: str, description: str) -> str:
    """The figure as an ``<svg>`` element for inlining.

    Args:
        figure: drawn under :data:`STYLE`.
        key: makes every id in it unique in the page; letters and underscores.
        title: short text alternative.
        description: long text alternative.
    """
    out = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": key}):
        FigureCanvasSVG(figure).print_svg(out, metadata=nothing)
    text = out.getvalue().decode()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{key}-\1"', text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    # The generic family alone: the reader's own font, rather than one that the machine may lack.
    text = re.sub(r"font(-family)?: ([^;\"]*)'DejaVu Sans'(, sans-serif)?", r"font\1: \2sans-serif", text)
    head, rest = text.split(">", 1)
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    names = (
        f'<title id="{key}-title">{html.escape(title)}</title><desc id="{key}-desc">{html.escape(description)}</desc>'
    )
    return f'{head} role="img" aria-labelledby="{key}-title {key}-desc">{names}{rest}'
