"""The page: one self-contained HTML file from the findings."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from components.drawing.figure import Figure
from components.drawing.style import page_css
from components.report import format as fmt
from components.report import settings
from components.report.examples import visible
from components.report.heldout import Unit
from components.report.tasks.results import metric_names
from components.report.tasks.summary import Findings
from components.report.tasks.workflow_plots import draw
from components.tasks.results import LABELS

if TYPE_CHECKING:
    from components.core.spec import Experiment

FOLDER = Path(__file__).parent
DECIDED = {
    "gold": "the official check decides",
    "judge": "a judge decides who is shown the reference answer; the official check is recorded",
    "both": "the official check and a judge decide together",
}


def build_page(experiment: "Experiment", findings: Findings, figures: Sequence[Figure] = ()) -> str:
    """The report as HTML. Questions and responses are text from outside: the template escapes them."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, FOLDER.parent]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    mixture = experiment.data.mixture
    return environment.get_template("tasks.html.jinja").render(
        css=Markup(page_css()),
        experiment=experiment,
        findings=findings,
        models=findings.results.models,
        metrics=metric_names(findings.results.models),
        labels=LABELS,
        plot="data:image/svg+xml;base64," + base64.b64encode(findings.results.plot).decode(),
        trained=settings.what_was_trained(experiment),
        judge=settings.judged(experiment).text if experiment.asks_judge else None,
        decided=[] if mixture is None else [(name, DECIDED[who]) for name, who in mixture.decided_by.all.items()],
        weights={} if mixture is None else mixture.weights.model_dump(),
        comparable=mixture is None or mixture.split == "official",
        training_settings=settings.training_settings(experiment),
        yaml=settings.as_yaml(experiment),
        workflow_pictures=[(figure, Markup(draw(figure)), figure.data_uri()) for figure in figures],
        fmt=fmt,
        unit=Unit,
        visible=visible,
    )
