"""Responses to score, joined with what their rows say about them."""

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.contracts import GENERATIONS, PROMPTS, ROLLOUTS, read_table
from components.core.errors import ContractError
from components.gold.check import check_gold
from components.gold.checks import GoldChecks
from components.gold.text import words
from components.gold.truth import read_truth
from components.judge.rubrics import read_rubric
from components.judge.verdict import Criterion, Sample, VerdictStatus
from components.score.task_verdicts import TaskVerdict
from components.tasks.gold import CodeGold, MathGold, QaGold, TaskGold

HELDOUT_STEP = -1


@dataclasses.dataclass(frozen=True)
class Prompt:
    """What a row of the PROMPTS contract says about its responses."""

    question: str
    criteria: tuple[Criterion, ...]
    checks: GoldChecks | TaskGold | None


@dataclasses.dataclass(frozen=True)
class Response:
    """One response.

    Attributes:
        model: ``base``, ``trained`` or ``rollout``.
        step: training step; -1 for held-out responses.
        sample: what the judge is shown.
        sample_index: place among the responses to its prompt.
        checks: the hidden checks, or the gold of a task; None for a row without any.
    """

    model: str
    step: int
    sample: Sample
    sample_index: int
    checks: GoldChecks | TaskGold | None

    @property
    def is_task(self) -> bool:
        """Whether the row is a task's, which its official check decides."""
        return isinstance(self.checks, MathGold | QaGold | CodeGold)

    def scored(self, status: str, judge_reward: float | None, task: TaskVerdict | None = None) -> dict[str, Any]:
        """The row of the SCORES contract.

        Args:
            status: scored or abstained.
            judge_reward: None exactly when ``status`` is abstained.
            task: of a task, what the official check found; None where that is not known.
        """
        if isinstance(self.checks, MathGold | QaGold | CodeGold):
            return self._task_scored(self.checks, status, judge_reward, task)
        positive = [criterion.text for criterion in self.sample.criteria if criterion.points > 0]
        gold = check_gold(self.checks, positive, self.sample.response, self.sample.question)
        return {
            "model": self.model,
            "step": self.step,
            "row_id": self.sample.row_id,
            "sample_id": self.sample.sample_id,
            "sample_index": self.sample_index,
            "status": status,
            "judge_reward": judge_reward,
            "gold": gold.gold,
            "keyword": gold.keyword,
            "echo": gold.echo,
            "length_ok": gold.length_ok,
            "words": gold.words,
            "gold_detail": json.dumps(gold.detail, sort_keys=True, ensure_ascii=False),
        }

    def _task_scored(
        self, gold: TaskGold, status: str, judge_reward: float | None, task: TaskVerdict | None
    ) -> dict[str, Any]:
        """A task's row: ``gold`` is whether the answer is right, and null where that could not be found out."""
        known = task is not None and task.status is not VerdictStatus.UNKNOWN
        detail = {"dataset": gold.dataset, "value": task.value if task is not None else None}
        return {
            "model": self.model,
            "step": self.step,
            "row_id": self.sample.row_id,
            "sample_id": self.sample.sample_id,
            "sample_index": self.sample_index,
            "status": status,
            "judge_reward": judge_reward,
            "gold": task.status is VerdictStatus.MET if task is not None and known else None,
            "keyword": None,
            "echo": None,
            "length_ok": None,
            "words": len(words(self.sample.response)),
            "gold_detail": json.dumps(detail, sort_keys=True),
        }


def read_prompts(path: Path) -> dict[str, Prompt]:
    """The prompts of one split by row id.

    Raises:
        ContractError: the table or a row's JSON breaks the contract.
    """
    prompts = {}
    for row in read_table(path, PROMPTS).to_pylist():
        info = row["extra_info"]
        where = f"{path}, row {info['id']}"
        try:
            criteria = read_rubric(info["rubric"])
        except (ValueError, TypeError, KeyError) as error:
            raise ContractError(f"rubric cannot be read: {error!r}", where=where) from error
        checks = read_truth(row["reward_model"], where)
        prompts[info["id"]] = Prompt(info["question"], criteria, checks)
    return prompts


def heldout_responses(generations: Path, prompts: Mapping[str, Prompt]) -> list[Response]:
    """The held-out responses of all models, in the order of the table.

    Raises:
        ContractError: a response's row is not held out, a model did not answer every prompt exactly once, or not every
            prompt has the same number of responses, at least one.
    """
    rows = read_table(generations, GENERATIONS).to_pylist()
    counts = Counter((row["model"], row["row_id"]) for row in rows)
    wanted = {(model, row_id) for model in {row["model"] for row in rows} for row_id in prompts}
    if not rows or set(counts) != wanted or max(counts.values()) > 1:
        raise ContractError(
            f"{len(rows)} rows of {len({row['model'] for row in rows})} models do not answer each of the "
            f"{len(prompts)} held-out prompts once a model",
            where=str(generations),
            remedy="the generations were made from other data; run the step generate again",
        )
    _check_lengths(rows, str(generations))
    found = [
        _response(
            prompts[row["row_id"]],
            model=row["model"],
            step=HELDOUT_STEP,
            row_id=row["row_id"],
            sample_id=f"{row['model']}-{row['row_id']}-{index}",
            index=index,
            response=response,
        )
        for row in rows
        for index, response in enumerate(row["responses"])
    ]
    _check_names(found, generations)
    return found


def _check_lengths(rows: Sequence[Mapping[str, Any]], where: str) -> None:
    """As many responses to each prompt: a model's mean is not to be that of the prompts it answered more often."""
    for row in rows:
        place = f"{where}, model {row['model']}, row {row['row_id']}"
        if not row["responses"]:
            raise ContractError("there is no response", where=place, remedy="run the step generate again")
        lengths = {key: len(row[key]) for key in ("responses", "finished", "response_tokens")}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{length} {key}" for key, length in lengths.items())
            raise ContractError(f"lists of different lengths: {told}", where=place, remedy="one entry a response each")
        if len(row["responses"]) != len(rows[0]["responses"]):
            raise ContractError(
                f"{len(row['responses'])} responses, and {len(rows[0]['responses'])} to the first prompt",
                where=place,
                remedy="give the same number of responses to every prompt",
            )


def _check_names(responses: Sequence[Response], path: Path) -> None:
    """Verdicts and rewards are kept by sample id: of two responses with one, each would get what the last one got."""
    counts = Counter(response.sample.sample_id for response in responses)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ContractError(
            f"{len(repeated)} sample ids are there more than once, the first is {repeated[0]!r}",
            where=str(path),
            remedy="give every response a sample_id of its own",
        )


def training_responses(rollouts: Path, prompts: Mapping[str, Prompt]) -> list[tuple[Response, str, float | None]]:
    """The training responses with status and reward; where a step was repeated, those of its highest attempt.

    Raises:
        ContractError: a response's row is no training row, or it is scored without a reward or abstained with one; two
            responses have one sample id; or there is none.
    """
    rows = read_table(rollouts, ROLLOUTS).to_pylist()
    last: dict[int, int] = {}
    for row in rows:
        last[row["step"]] = max(row["attempt"], last.get(row["step"], 0))
    found = []
    for row in rows:
        where = f"{rollouts}, sample {row['sample_id']}"
        if row["row_id"] not in prompts:
            raise ContractError("its row is not in the training data", where=where, remedy="train again on this data")
        if (row["status"] == "scored") != (row["reward"] is not None):
            raise ContractError(f"status {row['status']!r} with reward {row['reward']}", where=where)
        if row["attempt"] == last[row["step"]]:
            response = _response(
                prompts[row["row_id"]],
                model="rollout",
                step=row["step"],
                row_id=row["row_id"],
                sample_id=row["sample_id"],
                index=row["sample_index"],
                response=row["response"],
            )
            found.append((response, row["status"], row["reward"]))
    if not found:
        raise ContractError("there is no response", where=str(rollouts), remedy="give the rollouts of a training")
    _check_names([response for response, _, _ in found], rollouts)
    return found


def _response(
    prompt: Prompt, *, model: str, step: int, row_id: str, sample_id: str, index: int, response: str
) -> Response:
    sample = Sample(row_id, sample_id, prompt.question, response, prompt.criteria)
    return Response(model, step, sample, index, prompt.checks)
