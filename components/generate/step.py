"""The step generate: responses to the held-out prompts, of the policy before and after training."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.contracts import GENERATIONS, PROMPTS, read_table, write_table
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.generate.backend import chunk_size, open_generator
from components.generate.partial import PartialFile
from components.models.materialize import cache_folder, materialize

if TYPE_CHECKING:
    from components.core.spec import Experiment

Row = Mapping[str, Any]


def depends(experiment: "Experiment") -> object:
    """What the responses depend on, beside the prompts and the trained model."""
    return {"policy": experiment.policy_identity(), "generation": experiment.generation_identity()}


def chunks(rows: Sequence[Row], size: int) -> list[list[Row]]:
    """Rows in groups of at most ``size``, of like prompt length, that depend on nothing but the rows."""

    def length(row: Row) -> tuple[int, str]:
        return sum(len(message["content"]) for message in row["prompt"]), row["extra_info"]["id"]

    ordered = sorted(rows, key=length)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def chunk_seed(seed: int, chunk: Sequence[Row]) -> int:
    """A seed for one chunk: resumed runs draw what an unbroken one would have drawn."""
    ids = " ".join(row["extra_info"]["id"] for row in chunk)
    return int.from_bytes(hashlib.sha256(f"{seed} {ids}".encode()).digest()[:4])


def generate_rows(
    context: StepContext, name: str, locate: Callable[[], Path], rows: Sequence[Row]
) -> list[dict[str, object]]:
    """Rows of the GENERATIONS contract, in the order of ``rows``.

    Args:
        context: of the step; finished chunks are kept in its work folder.
        name: ``base`` or ``trained``.
        locate: gives the model's folder; not called when everything was generated before.
        rows: PROMPTS rows.
    """
    evaluation = context.experiment.evaluation
    partial = PartialFile(context.work / f"{name}.jsonl", evaluation.samples)
    done = partial.load()
    groups = chunks(rows, chunk_size(context.experiment))
    pending = [group for group in groups if any(row["extra_info"]["id"] not in done for row in group)]
    context.progress.begin(len(rows), f"{name} prompt", done=len(rows) - sum(map(len, pending)))
    if pending:
        context.progress.phase(f"loading the {name} policy")
        generator = open_generator(context.experiment, locate())
        for group in pending:
            generations = generator.generate(
                [row["prompt"] for row in group],
                max_tokens=evaluation.max_response_tokens,
                temperature=evaluation.temperature,
                samples=evaluation.samples,
                seed=chunk_seed(context.experiment.seed, group),
            )
            finished = [
                {
                    "row_id": group[generation.index]["extra_info"]["id"],
                    "responses": list(generation.responses),
                    "finished": list(generation.finished),
                    "response_tokens": list(generation.response_tokens),
                }
                for generation in generations
            ]
            partial.append(finished)
            done.update({str(row["row_id"]): row for row in finished})
            context.progress.advance(len(group))
        generator.close()
    return [
        {
            "model": name,
            "split": row["extra_info"]["split"],
            "question": row["extra_info"]["question"],
            **done[row["extra_info"]["id"]],
        }
        for row in rows
    ]


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write generations.parquet."""
    rows = read_table(context.inputs["data"] / "heldout.parquet", PROMPTS).to_pylist()
    source = context.experiment.policy.source
    base = generate_rows(context, "base", lambda: materialize(source, cache_folder(context.state)), rows)
    trained = generate_rows(context, "trained", lambda: context.inputs["model"] / "model", rows)
    count = write_table(context.out / "generations.parquet", [*base, *trained], GENERATIONS)
    return {"rows": count, "base_tokens": _tokens(base), "trained_tokens": _tokens(trained)}


def _tokens(rows: Sequence[Mapping[str, Any]]) -> float:
    """Mean number of tokens of a response."""
    counts: list[int] = [tokens for row in rows for tokens in row["response_tokens"]]
    return sum(counts) / len(counts)


STEP = Step(
    name="generate",
    module="components.generate.step",
    depends=depends,
    run=run,
    packages=("torch", "transformers"),
)
