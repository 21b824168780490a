"""The step report: from the earlier steps' tables to report.html, summary.json and the figures' data."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.step import Step, StepContext
from components.report.canaries import read_canaries
from components.report.evidence import read_evidence
from components.report.figures import build_figures
from components.report.heldout import Sampling, analyse_heldout
from components.report.ifeval import read_ifeval
from components.report.page import build_page
from components.report.panel import read_panel
from components.report.reading import read
from components.report.rubrics import read_rubrics
from components.report.settings import judged, trained_by
from components.report.summary import Findings, build_summary, headline, to_json
from components.report.training import analyse_training

if TYPE_CHECKING:
    from components.core.manifest import Scalar
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """Everything that the report prints, but where things ran and how patiently."""
    return {
        "description": experiment.description(),
        "data": experiment.data_identity(),
        "policy": experiment.policy_identity(),
        "judge": experiment.judge_identity(),
        "reward": experiment.reward_identity(),
        "training": experiment.training_identity(),
        "evaluation": experiment.evaluation_identity(),
    }


def run(context: StepContext) -> Mapping[str, "Scalar"]:
    """Write the report.

    Raises:
        ContractError: an input table is missing or breaks its contract, or two do not belong together.
    """
    experiment, progress = context.experiment, context.progress
    progress.phase("reading scores, rollouts and verdicts")
    evidence = read_evidence(context.inputs)
    sampling = Sampling(experiment.evaluation.bootstrap_samples, experiment.evaluation.confidence, experiment.seed)
    progress.phase("comparing before and after")
    heldout = analyse_heldout(evidence.answers, evidence.templates, sampling)
    findings = Findings(
        judge=judged(experiment),
        evidence=evidence,
        heldout=heldout,
        reading=read(heldout),
        rubrics=read_rubrics(experiment, context.inputs["data"]),
        training=analyse_training(evidence, sampling),
        manifests=context.manifests,
        panel=read_panel(experiment, context.inputs),
        ifeval=read_ifeval(experiment, context.inputs, sampling),
        canaries=read_canaries(experiment, context.inputs["training"]),
    )
    progress.phase("drawing figures and writing the page")
    figures = build_figures(heldout, findings.training, trained_by(experiment))
    folder = context.out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        (folder / f"{figure.key}.csv").write_text(figure.csv(), encoding="utf-8")
    (context.out / "summary.json").write_text(to_json(build_summary(experiment, findings)), encoding="utf-8")
    (context.out / "report.html").write_text(build_page(experiment, findings, figures), encoding="utf-8")
    return headline(heldout)


STEP = Step(
    name="report",
    module="components.report.step",
    depends=depends,
    run=run,
    needs={"training": ("*.parquet",)},
    packages=("jinja2", "matplotlib", "numpy", "pyarrow"),
)
