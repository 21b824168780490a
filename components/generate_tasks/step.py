"""The step generate-tasks: the trained policy, and if asked the one before training, answer the test sets."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.contracts import GENERATIONS, write_table
from components.core.manifest import Scalar
from components.core.spec.tasks import TasksSpec
from components.core.step import Step, StepContext
from components.generate.answers import Row, answer, mean_tokens
from components.generate.backend import chunk_size, open_generator
from components.generate.model import Generator
from components.generate.sampling import Sampling
from components.generate_tasks.baselines import BASELINES, baseline_rows
from components.generate_tasks.kept_open import KeptOpen
from components.models.materialize import cache_folder, materialize
from components.tasks.sets import DOMAINS
from components.tasks.tables import FOLDER, read_tests
from components.workflow.unused import unused

if TYPE_CHECKING:
    from components.core.spec import Experiment

_ANSWERING = {"sets", "limit", "temperature", "top_p", "samples", "max_response_tokens"}
"""What of ``evaluation.tasks`` decides the answers; the rest decides how they are counted."""


def tasks_of(experiment: "Experiment") -> TasksSpec:
    """How the test sets are answered; by the defaults where the experiment says nothing."""
    return experiment.evaluation.tasks or TasksSpec()


def sampling_of(experiment: "Experiment") -> dict[str, Sampling]:
    """How answers are drawn, by domain."""
    tasks = tasks_of(experiment)
    samples, tokens = tasks.samples.model_dump(), tasks.max_response_tokens.model_dump()
    return {
        domain: Sampling(
            max_tokens=tokens[domain],
            temperature=tasks.temperature,
            samples=samples[domain],
            seed=experiment.seed,
            top_p=tasks.top_p,
        )
        for domain in DOMAINS
    }


def _step(models: Callable[["Experiment"], tuple[str, ...]], *, called: str = "trained") -> Step:
    """The step for the models that answer.

    Args:
        models: ``base`` and ``trained``, as tables name them, so that answers after a training are found again.
        called: what progress says for ``trained``.
    """

    def depends(experiment: "Experiment") -> object:
        tasks = tasks_of(experiment).model_dump(mode="json", include=_ANSWERING)
        policy = experiment.policy_identity()
        workflow = experiment.workflow
        baselines = {} if workflow is None else {"baselines": BASELINES, "calls": workflow.budget.calls}
        named = {"policy": policy, "tasks": tasks, "seed": experiment.seed, "models": models(experiment)}
        return {**named, **baselines}

    def run(context: StepContext) -> Mapping[str, Scalar]:
        return _run(context, models(context.experiment), called)

    return Step(
        name="generate-tasks",
        module="components.generate_tasks.step",
        depends=depends,
        run=run,
        packages=("torch", "transformers"),
        unused=unused,
        needs={"data": (f"{FOLDER}/*.parquet",)},
    )


def _run(context: StepContext, models: Sequence[str], called: str) -> Mapping[str, Scalar]:
    """Write generations.parquet, a row a model and task. Of workflows, those of the baselines stand in it as further
    models.

    Raises:
        ContractError: a test table is missing or breaks its contract.
        StepError: a prompt leaves no room for its response in the policy's context.
    """
    tasks = tasks_of(context.experiment)
    tests = read_tests(context.inputs["data"], sets=tasks.sets, limit=tasks.limit)
    found: dict[str, Scalar] = {"tasks": len(tests.rows)}
    answered: list[dict[str, Any]] = []
    for name in models:
        mine = _answers(context, name, list(tests.rows.values()), called if name == "trained" else name)
        found[f"{name}_tokens"] = mean_tokens(mine)
        answered += mine
    if (workflow := context.experiment.workflow) is not None:
        rows, samples = list(tests.rows.values()), tasks.samples.model_dump()
        answered += baseline_rows(rows, samples, context.experiment.seed, workflow.budget.calls)
        models = (*models, *BASELINES)
    write_table(context.out / "generations.parquet", answered, GENERATIONS)
    return {**found, "rows": len(answered), "models": ", ".join(sorted(models)), "sets": len(tests.members)}


def _answers(context: StepContext, name: str, rows: Sequence[Row], called: str) -> list[dict[str, Any]]:
    """A model's answers in the order of ``rows``. Domains have limits of their own, so that they are answered one after
    the other, by one loaded model."""
    experiment = context.experiment

    def load() -> Generator:
        trained = name == "trained"
        source = experiment.policy.source
        folder: Path = (
            context.inputs["model"] / "model" if trained else materialize(source, cache_folder(context.state))
        )
        return open_generator(experiment, folder)

    answered: dict[str, dict[str, Any]] = {}
    with KeptOpen(load) as generator:
        for domain, sampling in sampling_of(experiment).items():
            mine = [row for row in rows if row["ability"] == domain]
            if not mine:
                continue
            found = answer(
                f"{called} {domain}",
                mine,
                sampling,
                chunk=chunk_size(experiment),
                kept=context.work / f"{name}-{domain}.jsonl",
                progress=context.progress,
                load=generator,
            )
            answered |= {row["row_id"]: {**row, "model": name} for row in found}
    return [answered[row["extra_info"]["id"]] for row in rows]


def _asked(experiment: "Experiment") -> tuple[str, ...]:
    return ("base", "trained") if tasks_of(experiment).base else ("trained",)


STEP = _step(_asked)
"""The models that the experiment asks for."""
ALONE = _step(lambda _: ("trained",), called="model")
"""The given model alone."""
BOTH = _step(lambda _: ("base", "trained"), called="model")
"""The given model, and the policy before training."""
