"""The step ifeval: accuracies of each model on IFEval."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.errors import ContractError
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.score.ifeval.output import METRICS, table, write
from components.score.ifeval.score import PACKAGES, score_files

if TYPE_CHECKING:
    from components.core.spec import Experiment

_PREFIX = "responses_"


def depends(experiment: "Experiment") -> object:
    """What the figures depend on, beside the responses, which come with their prompts."""
    ifeval = experiment.evaluation.ifeval
    return {"overlay": ifeval is not None and ifeval.overlay}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write MODEL/eval_results_strict.jsonl, MODEL/eval_results_loose.jsonl and MODEL/summary.json for each model.

    Returns:
        ``Pr_S``, ``Ins_S``, ``Pr_L`` and ``Ins_L`` of the trained policy, and with ``base_`` before them those of the
        policy before training if it answered.

    Raises:
        ContractError: there are no responses, or prompts and responses do not fit.
    """
    folder = context.inputs["generations"]
    ifeval = context.experiment.evaluation.ifeval
    found: dict[str, Scalar] = {}
    for path in sorted(folder.glob(f"{_PREFIX}*.jsonl")):
        model = path.stem.removeprefix(_PREFIX)
        scored, summary = score_files(folder / "prompts.jsonl", path, corrected=ifeval is not None and ifeval.overlay)
        write(context.out / model, scored, summary)
        prefix = "" if model == "trained" else f"{model}_"
        found |= {f"{prefix}{metric}": summary[metric] for metric in METRICS}
        context.progress.phase(f"{model}: " + table(summary).split("\n\n")[0].replace("\n", " | "))
    if not found:
        raise ContractError("there are no responses", where=str(folder), remedy="run the step generate-ifeval again")
    return found


STEP = Step(
    name="ifeval",
    module="components.ifeval.step",
    depends=depends,
    run=run,
    packages=PACKAGES,
    needs={"generations": ("*.jsonl",)},
)
