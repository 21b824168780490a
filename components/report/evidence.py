"""What the report rests on: the earlier steps' tables, read under their contracts, joined and checked."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.contracts import GENERATIONS, METRICS, PROMPTS, ROLLOUTS, SCORES, read_table
from components.core.errors import ContractError
from components.report.calls import JudgeCalls, read_calls

BASE, TRAINED = "base", "trained"


@dataclasses.dataclass(frozen=True, slots=True)
class Score:
    """Judge and gold on one response; None is unknown."""

    model: str
    row_id: str
    sample_id: str
    sample_index: int
    status: str
    judge_reward: float | None
    gold: bool | None
    keyword: bool | None
    echo: bool | None
    length_ok: bool | None
    words: int
    gold_detail: str


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """One held-out response with its score."""

    question: str
    response: str
    finished: bool
    tokens: int
    score: Score


@dataclasses.dataclass(frozen=True, slots=True)
class Rollout:
    """One training response; ``score`` is None where the score step has none for it.

    ``parts`` is what the reward was made from, and how much of a scaffold the prompt carried; empty where neither is
    recorded.
    """

    step: int
    row_id: str
    sample_id: str
    status: str
    reward: float | None
    reason: str | None
    tokens: int
    finished: bool
    score: Score | None
    parts: Mapping[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """Everything read.

    Attributes:
        answers: held-out responses of both models.
        rollouts: training responses, those of the last attempt at each step.
        repeated: rollouts left out because a resumed run did their step again.
        metrics: metric name -> step -> value.
        calls: ``training`` and ``evaluation`` -> what the judge was asked, and the rules.
        templates: held-out row id -> the form that its prompt was made from.
    """

    answers: Sequence[Answer]
    rollouts: Sequence[Rollout]
    repeated: int
    metrics: Mapping[str, Mapping[int, float]]
    calls: Mapping[str, JudgeCalls]
    templates: Mapping[str, str]


def read_evidence(inputs: Mapping[str, Path]) -> Evidence:
    """Read the folders ``data``, ``training``, ``generations`` and ``scores``.

    Raises:
        ContractError: a table is missing or breaks its contract, or two tables do not belong together.
    """
    scores, training = inputs["scores"], inputs["training"]
    rollouts, repeated = _rollouts(training / "rollouts.parquet", scores / "rollout_scores.parquet")
    prompts = read_table(inputs["data"] / "heldout.parquet", PROMPTS).column("extra_info").to_pylist()
    return Evidence(
        answers=_answers(inputs["generations"] / "generations.parquet", scores / "scores.parquet"),
        rollouts=rollouts,
        repeated=repeated,
        metrics=_metrics(training / "metrics.parquet"),
        calls={"training": read_calls(training), "evaluation": read_calls(scores)},
        templates={info["id"]: info["template"] for info in prompts},
    )


def _score(row: Mapping[str, Any], where: str) -> Score:
    score = Score(**{field.name: row[field.name] for field in dataclasses.fields(Score)})
    if score.judge_reward is not None and not math.isfinite(score.judge_reward):
        raise ContractError(f"sample {score.sample_id!r} has judge_reward {score.judge_reward}", where=where)
    if score.judge_reward is not None and score.status != "scored":
        raise ContractError(f"sample {score.sample_id!r} is {score.status} and has a judge_reward", where=where)
    return score


def _answers(generations: Path, scores: Path) -> list[Answer]:
    responses: dict[tuple[str, str, int], tuple[str, str, bool, int]] = {}
    for row in read_table(generations, GENERATIONS).to_pylist():
        for index, response in enumerate(row["responses"]):
            key = (row["model"], row["row_id"], index)
            if key in responses:
                raise ContractError(f"model, row and sample {key} are there twice", where=str(generations))
            responses[key] = (row["question"], response, row["finished"][index], row["response_tokens"][index])
    answers = []
    for row in read_table(scores, SCORES).to_pylist():
        score = _score(row, str(scores))
        key = (score.model, score.row_id, score.sample_index)
        if key not in responses:
            raise ContractError(
                f"model, row and sample {key} are scored twice, or were never generated",
                where=f"{scores} against {generations}",
            )
        answers.append(Answer(*responses.pop(key), score))
    if responses:
        raise ContractError(
            f"{len(responses)} responses have no score, the first is model, row and sample {min(responses)}",
            where=f"{scores} against {generations}",
        )
    missing = {BASE, TRAINED} - {answer.score.model for answer in answers}
    if missing:
        raise ContractError(f"no responses of the models {sorted(missing)}", where=str(generations))
    return sorted(answers, key=lambda answer: (answer.score.row_id, answer.score.model, answer.score.sample_index))


def _rollouts(path: Path, scores_path: Path) -> tuple[list[Rollout], int]:
    rows = read_table(path, ROLLOUTS).to_pylist()
    last: dict[int, int] = {}
    for row in rows:
        last[row["step"]] = max(row["attempt"], last.get(row["step"], row["attempt"]))
    kept = [row for row in rows if row["attempt"] == last[row["step"]]]
    _unique([row["sample_id"] for row in kept], str(path))
    scores = [_score(row, str(scores_path)) for row in read_table(scores_path, SCORES).to_pylist()]
    _unique([score.sample_id for score in scores], str(scores_path))
    by_sample = {score.sample_id: score for score in scores}
    rollouts = []
    for row in kept:
        if row["reward"] is not None and not math.isfinite(row["reward"]):
            raise ContractError(f"sample {row['sample_id']!r} has reward {row['reward']}", where=str(path))
        rollouts.append(
            Rollout(
                step=row["step"],
                row_id=row["row_id"],
                sample_id=row["sample_id"],
                status=row["status"],
                reward=row["reward"],
                reason=row["reason"],
                tokens=row["response_tokens"],
                finished=row["finished"],
                score=by_sample.get(row["sample_id"]),
                parts=json.loads(row["parts"]),
            )
        )
    return rollouts, len(rows) - len(kept)


def _unique(ids: Sequence[str], where: str) -> None:
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise ContractError(f"{len(repeated)} sample ids are there twice, the first is {repeated[0]!r}", where=where)


def _metrics(path: Path) -> dict[str, dict[int, float]]:
    """By name and step; of a step that a resumed run did again, the later row counts."""
    metrics: dict[str, dict[int, float]] = {}
    for row in read_table(path, METRICS).to_pylist():
        if math.isfinite(row["value"]):
            metrics.setdefault(row["name"], {})[row["step"]] = row["value"]
    return metrics
