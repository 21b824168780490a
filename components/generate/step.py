"""The step generate: responses to the held-out prompts, of the policy before and after training."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.contracts import GENERATIONS, PROMPTS, read_table, write_table
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.generate.answers import Row, answer, mean_tokens
from components.generate.backend import chunk_size, open_generator
from components.generate.sampling import heldout_sampling
from components.models.materialize import cache_folder, materialize

if TYPE_CHECKING:
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """What the responses depend on, beside the prompts and the trained model."""
    return {"policy": experiment.policy_identity(), "generation": experiment.generation_identity()}


def depends_alone(experiment: "Experiment") -> object:
    """The same without the starting policy's responses; how it would answer still decides template and context."""
    return {"models": ["trained"], **experiment.policy_identity(), **experiment.generation_identity()}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write generations.parquet with the responses of both policies."""
    source = context.experiment.policy.source
    rows = read_table(context.inputs["data"] / "heldout.parquet", PROMPTS).to_pylist()
    base = _answers(context, "base", lambda: materialize(source, cache_folder(context.state)), rows)
    return _write(context, base, _trained(context, rows))


def run_alone(context: StepContext) -> Mapping[str, Scalar]:
    """Write generations.parquet with the responses of the trained policy alone."""
    rows = read_table(context.inputs["data"] / "heldout.parquet", PROMPTS).to_pylist()
    return _write(context, _trained(context, rows))


def _trained(context: StepContext, rows: Sequence[Row]) -> list[dict[str, Any]]:
    return _answers(context, "trained", lambda: context.inputs["model"] / "model", rows)


def _answers(context: StepContext, name: str, locate: Callable[[], Path], rows: Sequence[Row]) -> list[dict[str, Any]]:
    return answer(
        name,
        rows,
        heldout_sampling(context.experiment),
        chunk=chunk_size(context.experiment),
        kept=context.work / f"{name}.jsonl",
        progress=context.progress,
        load=lambda: open_generator(context.experiment, locate()),
    )


def _write(context: StepContext, *answered: list[dict[str, Any]]) -> Mapping[str, Scalar]:
    count = write_table(context.out / "generations.parquet", [row for rows in answered for row in rows], GENERATIONS)
    return {"rows": count, **{f"{rows[0]['model']}_tokens": mean_tokens(rows) for rows in answered}}


STEP = Step(
    name="generate",
    module="components.generate.step",
    depends=depends,
    run=run,
    packages=("torch", "transformers"),
)

ALONE = Step(
    name="generate",
    module="components.generate.step",
    depends=depends_alone,
    run=run_alone,
    packages=("torch", "transformers"),
)
"""The same where nothing is compared with the policy before training."""
