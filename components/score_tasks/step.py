"""The step score-tasks: the answers to the test sets, scored by the sets' official metrics."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from components.core.contracts import GENERATIONS, TASK_SCORES, read_table, write_table
from components.core.errors import ContractError, StepError
from components.core.manifest import Scalar
from components.core.spec.tasks import TasksSpec
from components.core.step import Step, StepContext
from components.score_tasks.fields import score_fields
from components.score_tasks.plot import draw
from components.score_tasks.workflows import score_workflows
from components.tasks.gold import TaskGold, parse_gold
from components.tasks.results import COMPARISON, COMPARISONS, FILE, PLOT, table
from components.tasks.score import TaskScorer
from components.tasks.statistics import Sampling, comparison, measure, results
from components.tasks.tables import FOLDER, Tests, read_tests
from components.workflow.operators import MODULES
from components.workflow.prompts.layer2 import enhancements_identity
from components.workflow.unused import unused

if TYPE_CHECKING:
    from components.core.spec import Experiment

_AT_ONCE: Final = 64
"""Answers handed to the scorer at once; it has as many at work as there are cores."""
MAX_UNKNOWN: Final = 0.2
"""Share of the answers that the checks themselves may fail on; above it the figures are of another test."""


def depends(experiment: "Experiment") -> object:
    """What the figures depend on, beside tests and answers."""
    tasks, evaluation = experiment.evaluation.tasks or TasksSpec(), experiment.evaluation
    mixture = experiment.data.mixture
    workflow = experiment.workflow_identity()
    return {
        **({} if workflow is None else {"workflow": workflow}),
        **enhancements_identity(experiment),
        "sets": tasks.sets,
        "limit": tasks.limit,
        "ks": tasks.ks,
        "bootstrap_samples": evaluation.bootstrap_samples,
        "confidence": evaluation.confidence,
        "seed": experiment.seed,
        "split": None if mixture is None else mixture.split,
    }


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Write scores.parquet, for each model MODEL/results.json, comparison.json where both answered, results.svg and
    results.txt. Of workflows also workflows.parquet, calls.parquet, and comparisons.json: the trained model beside each
    other one, baselines among them.

    Returns:
        Accuracies by set and the two means of the trained model, with ``base_`` before them those of the other.

    Raises:
        ContractError: a table is missing or breaks its contract, a gold cannot be read, or an answer is of no task.
        StepError: the checks of more than a fifth of the answers failed; or too many workflows abstained.
        JudgeError: the executor model of workflows is not deployed, or its budget is used up.
    """
    experiment, tasks = context.experiment, context.experiment.evaluation.tasks or TasksSpec()
    tests = read_tests(context.inputs["data"], sets=tasks.sets, limit=tasks.limit)
    golds = {
        name: parse_gold(row["reward_model"]["ground_truth"], f"test row {name}") for name, row in tests.rows.items()
    }
    answers = read_table(context.inputs["generations"] / "generations.parquet", GENERATIONS).to_pylist()
    _check(answers, tests)
    if experiment.workflow is None:
        rows = asyncio.run(_score(context, answers, tests, golds))
    else:
        rows = _rows(answers, tests, score_workflows(context, answers, tests, golds))
    write_table(context.out / "scores.parquet", rows, TASK_SCORES)
    _check_known(rows)
    evaluation, mixture = experiment.evaluation, experiment.data.mixture
    sampling = Sampling(evaluation.bootstrap_samples, evaluation.confidence, experiment.seed)
    found, measured = {}, {}
    for model in sorted({row["model"] for row in rows}):
        mine = {name: _of(rows, model, ids) for name, ids in tests.members.items()}
        measured[model] = {name: measure(name, scored, golds, tasks.ks) for name, scored in mine.items()}
        found[model] = results(
            model,
            measured[model],
            sampling,
            comparable=mixture is None or mixture.split == "official",
            samples={name: len(scored) for name, scored in mine.items()},
        )
        (context.out / model).mkdir()
        _write(context, f"{model}/{FILE}", found[model])
    if "base" in measured and "trained" in measured:
        _write(context, COMPARISON, comparison(measured["base"], measured["trained"], sampling))
    if experiment.workflow is not None and "trained" in measured:
        others = {name: each for name, each in measured.items() if name != "trained"}
        found_by = {name: comparison(each, measured["trained"], sampling) for name, each in others.items()}
        _write(context, COMPARISONS, found_by)
    (context.out / PLOT).write_bytes(draw(found))
    texts = [f"{model}\n{table(result)}" for model, result in found.items()]
    (context.out / "results.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    for model, result in found.items():
        means = ", ".join(f"{name} {100 * mean['value']:.1f} %" for name, mean in result["means"].items())
        context.progress.phase(f"{model}: {means}")
    return _metadata(found)


def _check(answers: Sequence[Mapping[str, Any]], tests: Tests) -> None:
    seen: set[tuple[str, str]] = set()
    for row in answers:
        key = row["model"], row["row_id"]
        if key in seen or row["row_id"] not in tests.rows:
            what = "twice" if key in seen else "and is of no task"
            raise ContractError(f"the answer {key} is there {what}", where="generations.parquet")
        seen.add(key)
    for model in sorted({model for model, _ in seen}):
        if missing := sorted(set(tests.rows) - {name for each, name in seen if each == model}):
            raise ContractError(
                f"{len(missing)} tasks have no answer of {model}, the first is {missing[0]}",
                where="generations.parquet",
            )


async def _score(
    context: StepContext, answers: Sequence[Mapping[str, Any]], tests: Tests, golds: Mapping[str, TaskGold]
) -> list[dict[str, Any]]:
    """Rows of TASK_SCORES in the order of the answers. Equal answers to one task are scored once."""
    pending = [(row, index) for row in answers for index in range(len(row["responses"]))]
    context.progress.begin(len(pending), "answer")
    slots = asyncio.Semaphore(_AT_ONCE)
    known: dict[tuple[str, str], asyncio.Task[dict[str, Any]]] = {}
    scorer = TaskScorer()

    async def found_out(name: str, response: str) -> dict[str, Any]:
        async with slots:
            return score_fields(await scorer.score(golds[name], response))

    async def one(row: Mapping[str, Any], index: int) -> dict[str, Any]:
        name, response = row["row_id"], row["responses"][index]
        task = known.get((name, response))
        if task is None:
            task = known[name, response] = asyncio.create_task(found_out(name, response))
        fields = await task
        context.progress.advance()
        return {**_origin(row, tests), "sample_index": index, **fields}

    try:
        return list(await asyncio.gather(*(one(row, index) for row, index in pending)))
    finally:
        await scorer.close()


def _rows(
    answers: Sequence[Mapping[str, Any]], tests: Tests, fields: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    pending = [(row, index) for row in answers for index in range(len(row["responses"]))]
    return [
        {**_origin(row, tests), "sample_index": index, **found}
        for (row, index), found in zip(pending, fields, strict=True)
    ]


def _origin(row: Mapping[str, Any], tests: Tests) -> dict[str, Any]:
    of = tests.rows[row["row_id"]]
    return {
        "model": row["model"],
        "dataset": of["data_source"],
        "domain": of["ability"],
        "row_id": row["row_id"],
    }


def _check_known(rows: Sequence[Mapping[str, Any]]) -> None:
    unknown = [row for row in rows if row["correct"] is None]
    if len(unknown) > MAX_UNKNOWN * len(rows):
        raise StepError(
            f"the checks of {len(unknown)} of {len(rows)} answers failed by themselves; first: {unknown[0]['detail']}",
            where=f"row {unknown[0]['row_id']}",
            remedy="see docs/rules.md for what the sandbox needs; then run the same command again",
        )


def _of(rows: Sequence[Mapping[str, Any]], model: str, ids: Sequence[str]) -> list[Mapping[str, Any]]:
    wanted = set(ids)
    return [row for row in rows if row["model"] == model and row["row_id"] in wanted]


def _write(context: StepContext, name: str, value: object) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (context.out / name).write_text(text, encoding="utf-8")


def _metadata(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Scalar]:
    metadata: dict[str, Scalar] = {}
    for model, result in found.items():
        prefix = "" if model == "trained" else f"{model}_"
        for entry in result["datasets"]:
            metadata[f"{prefix}{entry['dataset']}"] = entry["metrics"]["accuracy"]
        for name, mean in result["means"].items():
            metadata[f"{prefix}{name}"] = mean["value"]
    return metadata


STEP = Step(
    name="score-tasks",
    module="components.score_tasks.step",
    depends=depends,
    run=run,
    packages=("math-verify", "sympy", "numpy", "matplotlib"),
    # The embedded server runs in a process of its own; another arithmetic there gives other replies.
    extra_modules=("components.judge.server.__main__", *MODULES),
    unused=unused,
    needs={"data": (f"{FOLDER}/*.parquet",)},
)
