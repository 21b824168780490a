"""The step generate-drift: the held-out prompts answered by the checkpoints that a training published."""

import re
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from components.checkpoint.merged import merge_verified
from components.core.contracts import GENERATIONS, PROMPTS, read_table, write_table
from components.core.errors import StepError
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.engine.environment import verl_environment
from components.generate.answers import answer
from components.generate.backend import chunk_size, open_generator
from components.generate.sampling import heldout_sampling
from components.study.looks import model_name

if TYPE_CHECKING:
    from pathlib import Path

    from components.core.spec import Experiment
    from components.generate.model import Generator

EARLIER: Final = "checkpoints"
"""Folder of a training's result with the checkpoints before its last."""
_STEP: Final = re.compile(r"global_step_([0-9]{1,9})")


def depends(experiment: "Experiment") -> object:
    """What the responses depend on, beside the prompts and the checkpoints."""
    policy = experiment.policy_identity()
    return {"generation": experiment.generation_identity(), "lora": experiment.training_identity()["lora"], **policy}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write generations.parquet: a model for each checkpoint, under the name of its step.

    Raises:
        StepError: the training published no checkpoint before its last, or one cannot be merged.
    """
    rows = read_table(context.inputs["data"] / "heldout.parquet", PROMPTS).to_pylist()
    checkpoints = _checkpoints(context.inputs["training"] / EARLIER)
    if not checkpoints:
        raise StepError(
            "the training published no checkpoint before its last one",
            where=EARLIER,
            remedy="set training.publish_every; where a training went on in another pod, its earlier checkpoints are "
            "lost: train again with a larger deadline, or look at the last step alone (drift: null)",
        )
    found = []
    for step, folder in checkpoints.items():
        found += answer(
            model_name(step),
            rows,
            heldout_sampling(context.experiment),
            chunk=chunk_size(context.experiment),
            kept=context.work / f"{model_name(step)}.jsonl",
            progress=context.progress,
            load=lambda step=step, folder=folder: _loaded(context, step, folder),  # type: ignore[misc]
        )
        # The next one needs the room.
        shutil.rmtree(_merged(context, step), ignore_errors=True)
    return {"rows": write_table(context.out / "generations.parquet", found, GENERATIONS), "looks": len(checkpoints)}


def _checkpoints(folder: "Path") -> dict[int, "Path"]:
    """Folders by step, ascending."""
    matched = ((_STEP.fullmatch(path.name), path) for path in folder.glob("global_step_*"))
    return dict(sorted((int(match[1]), path) for match, path in matched if match))


def _merged(context: StepContext, step: int) -> "Path":
    return context.work / f"merged-{step}"


def _loaded(context: StepContext, step: int, checkpoint: "Path") -> "Generator":
    experiment = context.experiment
    merge_verified(
        checkpoint,
        _merged(context, step),
        environment=verl_environment(experiment),
        log=context.work / f"merge-{step}.log",
        dtype=experiment.policy.dtype,
        progress=context.progress,
    )
    return open_generator(experiment, _merged(context, step))


STEP = Step(
    name="generate-drift",
    module="components.generate_drift.step",
    depends=depends,
    run=run,
    packages=("verl", "torch", "transformers", "peft"),
    extra_modules=("components.engine.cpu.platform", "components.checkpoint.verl_merge"),
    needs={"data": ("heldout.parquet",), "training": (f"{EARLIER}/*",)},
)
