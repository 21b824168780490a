"""The page: one self-contained HTML file from a study's result."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from components.bias.drift.features import title
from components.bias.result_arms import Arm
from components.bias.study_result import StudyResult
from components.drawing import numbers
from components.drawing.figure import Figure
from components.drawing.style import page_css
from components.study_report import plots, summary, wording
from components.study_report.figures import Drawn, condition, unknown_throughout

FOLDER = Path(__file__).parent


@dataclasses.dataclass(frozen=True, slots=True)
class CanaryRow:
    """One key in one arm, over all steps."""

    arm: str
    key: str
    judged: int
    accepted: int
    unknown: int
    first: int | None


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
    canaries = [row for arm in study.arms for row in canary_rows(arm)]
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


def canary_rows(arm: Arm) -> list[CanaryRow]:
    """An arm's canaries by key."""
    rows = []
    for key in dict.fromkeys(canary.key for canary in arm.canaries):
        found = [canary for canary in arm.canaries if canary.key == key]
        rows.append(
            CanaryRow(
                arm=arm.name,
                key=json.dumps(key, ensure_ascii=False),
                judged=sum(canary.judged for canary in found),
                accepted=sum(canary.accepted for canary in found),
                unknown=sum(canary.unknown for canary in found),
                first=min((canary.step for canary in found if canary.accepted), default=None),
            )
        )
    return rows


def size(parameters: float) -> str:
    """A number of weights in words, such as ``135 M`` or ``7 B``."""
    for unit, scale in (("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if parameters >= scale:
            return f"{parameters / scale:.3g} {unit}"
    return f"{parameters:.0f}"
