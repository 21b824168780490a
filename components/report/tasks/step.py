"""The step report of a mixture: from the earlier steps' tables to report.html and summary.json."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.step import Step, StepContext
from components.report.canaries import read_canaries
from components.report.heldout import Sampling
from components.report.summary import to_json
from components.report.tasks.agreement import read_agreement
from components.report.tasks.page import build_page
from components.report.tasks.results import pick_examples, read_results
from components.report.tasks.rollouts import analyse, read_rollouts
from components.report.tasks.summary import Findings, build_summary, headline, read_mixture
from components.report.tasks.workflow_figures import workflow_figures
from components.report.tasks.workflows import read_workflows
from components.tasks.statistics import Sampling as TaskSampling

if TYPE_CHECKING:
    from components.core.manifest import Scalar
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """Everything that the report prints, but where things ran and how patiently."""
    return {
        "description": experiment.description(),
        "data": experiment.data_identity(),
        "policy": experiment.policy_identity(),
        "rewarding": experiment.rewarding_identity(),
        "training": experiment.training_identity(),
        "evaluation": experiment.evaluation_identity(),
    }


def run(context: StepContext) -> Mapping[str, "Scalar"]:
    """Write the report.

    Raises:
        ContractError: an input is missing or breaks its contract, or two do not belong together.
    """
    experiment, inputs, progress = context.experiment, context.inputs, context.progress
    sampling = Sampling(experiment.evaluation.bootstrap_samples, experiment.evaluation.confidence, experiment.seed)
    progress.phase("reading figures, rollouts and verdicts")
    rollouts, repeated = read_rollouts(inputs["training"], inputs["data"])
    findings = Findings(
        results=read_results(inputs["scores"]),
        learning=analyse(rollouts, repeated, inputs["training"], sampling),
        agreement=read_agreement(inputs["training"], rollouts, experiment.verdict_name),
        examples=pick_examples(inputs["scores"], inputs["generations"]),
        mixture=read_mixture(inputs["data"]),
        manifests=context.manifests,
        canaries=read_canaries(experiment, inputs["training"]),
        workflows=read_workflows(experiment, inputs, TaskSampling(**dataclasses.asdict(sampling))),
    )
    progress.phase("writing the page")
    (context.out / "summary.json").write_text(to_json(build_summary(experiment, findings)), encoding="utf-8")
    figures = [] if findings.workflows is None else workflow_figures(findings.workflows)
    folder = context.out / "figures"
    for figure in figures:
        folder.mkdir(exist_ok=True)
        (folder / f"{figure.key}.csv").write_text(figure.csv(), encoding="utf-8")
    (context.out / "report.html").write_text(build_page(experiment, findings, figures), encoding="utf-8")
    return headline(findings)


STEP = Step(
    name="report",
    module="components.report.tasks.step",
    depends=depends,
    run=run,
    needs={"training": ("*.parquet",), "data": ("train.parquet", "info.json", "draw.json")},
    packages=("jinja2", "matplotlib", "numpy", "pyarrow"),
)
