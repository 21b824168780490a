"""The merge-checkpoint step."""

from typing import Any

from components.checkpoint.merged import merge_verified
from components.core.errors import StepError
from components.core.spec.experiment import Experiment
from components.core.step import Step, StepContext
from components.engine.cpu import PLATFORM_MODULE
from components.engine.environment import verl_environment

PACKAGES = ("verl", "torch", "transformers", "peft")
LOADED = (PLATFORM_MODULE, "components.checkpoint.verl_merge")
"""Modules that are loaded by name."""


def run(ctx: StepContext) -> dict[str, Any]:
    """Merge the trained checkpoint into ``model/`` and check that nothing of the training was lost."""
    checkpoint = ctx.inputs["training"] / "checkpoint"
    if not checkpoint.is_dir():
        raise StepError("the training left no checkpoint", where=str(checkpoint))
    return merge_verified(
        checkpoint,
        ctx.out / "model",
        environment=verl_environment(ctx.experiment),
        log=ctx.work / "merge.log",
        dtype=ctx.experiment.policy.dtype,
        progress=ctx.progress,
    )


def _depends(experiment: Experiment) -> dict[str, Any]:
    return {"lora": experiment.training_identity().get("lora"), "dtype": experiment.policy.dtype}


STEP = Step(
    name="merge-checkpoint",
    module="components.checkpoint.step",
    depends=_depends,
    run=run,
    packages=PACKAGES,
    extra_modules=LOADED,
)
