"""The page: one self-contained HTML file from a study's result."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from components.bias.drift.features import title
from components.bias.study_result import StudyResult
from components.drawing import numbers
from components.drawing.figure import Figure
from components.drawing.style import page_css
from components.study_report import plots, summary, wording
from components.study_report.canaries import rows_by_arm, rows_by_key
from components.study_report.figures import Drawn, condition, prompts, unknown_throughout

FOLDER = Path(__file__).parent


def build_page(study: StudyResult, figures: Mapping[str, Sequence[Drawn]], tables: Mapping[str, Figure]) -> str:
    """The report as HTML, with its figures and the tables that it offers as CSV.

    Names, criteria and reasons may come from outside: the template escapes them.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    canaries = rows_by_arm(study.arms)
    return environment.get_template("study.html.jinja").render(
        css=Markup(page_css() + (FOLDER / "study.css").read_text(encoding="utf-8")),
        study=study,
        warnings=summary.warnings(study),
        summary=summary.summarise(study),
        metrics=summary.headline(study),
        conditions=dict.fromkeys(condition(arm) for arm in study.arms),
        # Made by our own code from numbers; matplotlib escapes the labels.
        figures={key: [(drawn, Markup(plots.draw(drawn))) for drawn in found] for key, found in figures.items()},
        changed=[(arm, change) for arm in study.arms for change in arm.changes],
        canaries=canaries,
        prompts=prompts,
        canary_keys=rows_by_key(study.arms),
        tables=tables,
        unknown_features=unknown_throughout(study),
        canaries_judged=sum(row.judged for row in canaries),
        percent=numbers.percent(study.confidence),
        title=title,
        size=size,
        w=wording,
        kind=wording.Kind,
        fmt=numbers,
    )


def size(parameters: float) -> str:
    """A number of weights in words, such as ``135 M`` or ``7 B``."""
    for unit, scale in (("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if parameters >= scale:
            return f"{parameters / scale:.3g} {unit}"
    return f"{parameters:.0f}"
