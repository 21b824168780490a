"""The step score-stored: stored responses judged by whom the experiment names; nothing is generated."""

from collections.abc import Mapping

from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.score.responses import heldout_responses, read_prompts
from components.score.step import STEP as SCORE
from components.score.step import depends, score_by_judge
from components.score.summary import sources_of


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write scores.parquet, verdicts.parquet, calls.parquet and summary.json about all models of the generations."""
    data = context.inputs["data"] / "heldout.parquet"
    responses = heldout_responses(context.inputs["generations"] / "generations.parquet", read_prompts(data))
    return score_by_judge(context, responses, sources_of(data))


STEP = Step(
    name="score-stored",
    module="components.score.stored",
    depends=depends,
    run=run,
    extra_modules=SCORE.extra_modules,
    packages=SCORE.packages,
    needs={"data": ("heldout.parquet",), "generations": ("generations.parquet",)},
)
