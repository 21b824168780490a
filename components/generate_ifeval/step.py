"""The step generate-ifeval: the trained policy, and if asked the one before training, answer IFEval's prompts."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.contracts import GENERATIONS, write_table
from components.core.errors import StepError
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.data.files import read_source
from components.generate.answers import answer, mean_tokens
from components.generate.backend import chunk_size, open_generator
from components.generate.model import Generator
from components.generate.sampling import Sampling
from components.generate_ifeval.prompts import prompt_rows, response_lines, take_lines
from components.models.materialize import cache_folder, materialize

if TYPE_CHECKING:
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """What the responses depend on, beside the trained model; the overlay only changes how they are scored."""
    ifeval = {key: value for key, value in (experiment.ifeval_identity() or {}).items() if key != "overlay"}
    return {"policy": experiment.policy_identity(), "ifeval": ifeval}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write prompts.jsonl, generations.parquet and responses_MODEL.jsonl for each model.

    Raises:
        StepError: the experiment asks for no IFEval.
        ContractError: the file of prompts is not there, is another than the experiment names, or has a bad line.
    """
    experiment, ifeval = context.experiment, context.experiment.evaluation.ifeval
    if ifeval is None:
        raise StepError("the experiment asks for no IFEval", where="evaluation.ifeval", remedy="give its path")
    content = take_lines(read_source(ifeval.path, ifeval.sha256), ifeval.limit, ifeval.path)
    rows = prompt_rows(content, system_prompt=experiment.policy.system_prompt, where=ifeval.path)
    (context.out / "prompts.jsonl").write_bytes(content)
    sampling = Sampling(
        max_tokens=ifeval.max_response_tokens,
        temperature=ifeval.temperature,
        samples=ifeval.samples,
        seed=experiment.seed,
    )
    models: dict[str, Callable[[], Path]] = {"trained": lambda: context.inputs["model"] / "model"}
    if ifeval.base:
        models["base"] = lambda: materialize(experiment.policy.source, cache_folder(context.state))
    found: dict[str, Scalar] = {"prompts": len(rows)}
    answered = []
    for name, locate in sorted(models.items()):
        mine = answer(
            name,
            rows,
            sampling,
            chunk=chunk_size(experiment),
            kept=context.work / f"{name}.jsonl",
            progress=context.progress,
            load=_loader(experiment, locate),
        )
        (context.out / f"responses_{name}.jsonl").write_bytes(response_lines(mine))
        found[f"{name}_tokens"] = mean_tokens(mine)
        answered += mine
    write_table(context.out / "generations.parquet", answered, GENERATIONS)
    return found


def _loader(experiment: "Experiment", locate: Callable[[], Path]) -> Callable[[], Generator]:
    return lambda: open_generator(experiment, locate())


STEP = Step(
    name="generate-ifeval",
    module="components.generate_ifeval.step",
    depends=depends,
    run=run,
    packages=("torch", "transformers"),
)
