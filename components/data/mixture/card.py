"""data_card.html: the mixture on one page that needs nothing from outside, with its plots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup

from components.data.mixture.bars import Series, draw
from components.tasks.sets import DATASETS

FOLDER: Final = Path(__file__).parent
LISTED: Final = 200
"""Contaminated ids on the page; info.json has all."""
_COMPARED: Final = {"exact": "equal text", "code_ast": "equal program", "ngram": "runs of words in common"}


def build_card(info: Mapping[str, Any], drawing: Mapping[str, Any]) -> str:
    """The page, from what info.json and draw.json hold. Names are text from outside: the template escapes them."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = list(info["licences"])
    return environment.get_template("card.html.jinja").render(
        css=Markup((FOLDER / "card.css").read_text(encoding="utf-8")),
        info=info,
        names=names,
        title={name: DATASETS[name].title for name in names},
        domain={name: DATASETS[name].domain for name in names},
        compared=_COMPARED,
        listed=LISTED,
        plots=[(title, Markup(plot)) for title, plot in _plots(info, drawing, names)],
    )


def _plots(info: Mapping[str, Any], drawing: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, str]]:
    sets = info["epochs"]["sets"]
    mixed = list(sets)
    total = sum(each["drawn"] for each in sets.values()) or 1
    rows = [
        Series(part, [info["rows"][part].get(name, 0) for name in names]) for part in ("train", "validation", "test")
    ]
    shares = [
        Series("asked", [drawing["sets"][name]["share"] for name in mixed]),
        Series("drawn", [sets[name]["drawn"] / total for name in mixed]),
    ]
    epochs = [Series("effective epochs", [sets[name]["effective_epochs"] for name in mixed])]
    cap = ("cap", float(info["mixture"]["repeat_cap"]))
    return [
        (found, draw(found, labels, series, shown=shown, logarithmic=logarithmic, line=line))
        for found, labels, series, shown, logarithmic, line in (
            ("Rows of each set (lengths are logarithmic)", names, rows, "{:,.0f}".format, True, None),
            ("Share of each set in one pass", mixed, shares, "{:.1%}".format, False, None),
            ("Effective epochs of each set in one pass", mixed, epochs, "{:.2f}".format, False, cap),
        )
    ]
