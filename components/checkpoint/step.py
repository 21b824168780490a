"""The merge-checkpoint step."""

from typing import Any

from components.checkpoint.merge import merge
from components.core.errors import StepError
from components.core.spec.experiment import Experiment
from components.core.step import Step, StepContext
from components.engine.cpu import PLATFORM_MODULE
from components.engine.environment import verl_environment

_TOLERANCE = {"float32": 0.0, "bfloat16": 2.0**-8}
"""Largest difference between a trained weight and the merged one, relative to the weight: none, or half a unit in the
last of bfloat16's eight significant bits, doubled for safety."""


def run(ctx: StepContext) -> dict[str, Any]:
    """Merge the trained checkpoint into ``model/`` and check that nothing of the training was lost."""
    dtype = ctx.experiment.policy.dtype
    checkpoint, model = ctx.inputs["training"] / "checkpoint", ctx.out / "model"
    if not checkpoint.is_dir():
        raise StepError("the training left no checkpoint", where=str(checkpoint))
    ctx.progress.phase("merging the trainer's shards (verl takes some seconds to start)")
    merge(checkpoint, model, verl_environment(ctx.experiment), ctx.work / "merge.log", dtype=dtype)
    metadata: dict[str, Any] = {"bytes": sum(path.stat().st_size for path in model.rglob("*") if path.is_file())}
    if ctx.experiment.training.lora is None and len(list(checkpoint.glob("model_world_size_*"))) == 1:
        from components.checkpoint.verify import compare_weights

        ctx.progress.phase("comparing merged and trained weights")
        worst = compare_weights(checkpoint, model)
        if worst > _TOLERANCE[dtype]:
            raise StepError(
                f"merged weights differ from the trained ones by up to {worst:.2g} of a weight", where=str(model)
            )
        metadata["largest_weight_difference"] = worst
    return metadata


def _depends(experiment: Experiment) -> dict[str, Any]:
    return {"lora": experiment.training_identity().get("lora"), "dtype": experiment.policy.dtype}


STEP = Step(
    name="merge-checkpoint",
    module="components.checkpoint.step",
    depends=_depends,
    run=run,
    packages=("verl", "torch", "transformers", "peft"),
    extra_modules=(PLATFORM_MODULE, "components.checkpoint.verl_merge"),
)
