"""The page: one self-contained HTML file from the findings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from components.drawing.figure import Figure
from components.drawing.style import page_css
from components.report import examples, plots, settings
from components.report import format as fmt
from components.report.direction import MAX_DROPPED, MIN_PROMPTS
from components.report.figures import PART_LABELS
from components.report.heldout import KINDS, MEASURES, Unit
from components.report.ifeval import FIGURES as IFEVAL_FIGURES
from components.report.parts import LABELS as PART_NAMES
from components.report.reading import HEADLINES
from components.report.rubrics import in_words
from components.report.summary import Findings
from components.report.training import TIMINGS, Training

if TYPE_CHECKING:
    from components.core.spec import Experiment

FOLDER = Path(__file__).parent
METRICS_SHOWN = (
    ("critic/score/mean", "Mean score"),
    ("actor/pg_loss", "Policy-gradient loss"),
    ("actor/entropy", "Entropy, nats a token"),
    ("actor/grad_norm", "Gradient norm"),
    ("actor/pg_clipfrac", "Share of clipped ratios"),
    ("response_length/mean", "Response length, tokens"),
    ("response_length/clip_ratio", "Share of cut responses"),
)
"""The trainer's own metrics that the page prints, with their names in words."""


def build_page(experiment: "Experiment", findings: Findings, figures: Sequence[Figure]) -> str:
    """The report as HTML. Responses and names are text from outside: the template escapes them."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.get_template("report.html.jinja")
    return template.render(
        css=Markup(page_css()),
        experiment=experiment,
        findings=findings,
        headline=HEADLINES[findings.reading.label],
        trained_by=settings.trained_by(experiment),
        trained=settings.what_was_trained(experiment),
        reward=settings.reward_in_full(experiment),
        rewarded=settings.what_was_rewarded(experiment),
        checked=settings.what_was_checked(
            experiment, checked="gold" not in findings.heldout.unchecked, own=findings.rubrics.own_gold
        ),
        unchecked=findings.heldout.unchecked,
        rubrics=findings.rubrics,
        own_criteria=in_words(findings.rubrics),
        training_settings=settings.training_settings(experiment),
        yaml=settings.as_yaml(experiment),
        measures=[measure for measure in MEASURES if measure.key not in findings.heldout.unchecked],
        all_measures=MEASURES,
        kinds=[(kind, PART_LABELS[kind]) for kind in KINDS],
        figures=[(figure, drawing(figure), figure.data_uri()) for figure in figures],
        drawn={figure.key for figure in figures},
        examples=[(*examples.LABELS[kind], found) for kind, found in _examples(findings)],
        scaffold=settings.what_was_shown(experiment),
        part_labels=PART_NAMES,
        timings=timings(findings.training),
        metrics=metric_rows(findings),
        min_prompts=MIN_PROMPTS,
        max_dropped=MAX_DROPPED,
        ifeval_figures=IFEVAL_FIGURES,
        fmt=fmt,
        unit=Unit,
        visible=examples.visible,
    )


def drawing(figure: Figure) -> Markup:
    """The figure as inline SVG; made by our own code from numbers and our own labels."""
    return Markup(plots.draw(figure))


def timings(training: Training) -> list[tuple[str, float | None, float | None, int]]:
    """Phase, seconds in all, seconds a step and steps recorded; None where the trainer recorded nothing."""
    rows: list[tuple[str, float | None, float | None, int]] = []
    for name in TIMINGS:
        seconds = [row.seconds[name] for row in training.steps if name in row.seconds]
        label = "whole step" if name == "step" else name.replace("_", " ")
        total = sum(seconds) if seconds else None
        rows.append((label, total, total / len(seconds) if total is not None else None, len(seconds)))
    return rows


def metric_rows(findings: Findings) -> list[tuple[str, str, str, str]]:
    """Name, verl's key, first and last value of the trainer's metrics, or that they are not recorded."""
    rows = []
    for key, name in METRICS_SHOWN:
        series = findings.evidence.metrics.get(key)
        ends = [f"{series[step]:.4g} (step {step})" for step in (min(series), max(series))] if series else []
        first, last = ends or ("not recorded", "not recorded")
        rows.append((name, key, first.replace("-", fmt.MINUS), last.replace("-", fmt.MINUS)))
    return rows


def _examples(findings: Findings) -> list[tuple[str, Any]]:
    return list(examples.pick_examples(findings.evidence.answers).items())
