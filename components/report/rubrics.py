"""What the prompts of a run ask for: their rubrics and hidden checks, from the rows and not from the settings."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.contracts import PROMPTS, read_table
from components.gold.checks import GoldChecks
from components.gold.truth import read_truth
from components.judge.rubrics import read_rubric
from components.tasks.gold import TaskGold

if TYPE_CHECKING:
    from components.core.spec import Experiment

Line = tuple[str, float, str]
"""Text, points and verifier of a criterion."""


@dataclasses.dataclass(frozen=True, slots=True)
class SplitLines:
    """The rubric lines of one split, counted over its prompts.

    Attributes:
        prompts: rows.
        lines: all of them.
        judge: those that a judge decides.
        rules: those that a rule decides.
        penalties: those with negative points, whoever decides them.
    """

    prompts: int
    lines: int
    judge: int
    rules: int
    penalties: int


@dataclasses.dataclass(frozen=True, slots=True)
class Rubrics:
    """The rows' rubrics and checks.

    Attributes:
        shared: the one rubric that every prompt has; None where prompts differ.
        as_set: the experiment's ``data.criteria`` are the rubric of every prompt.
        splits: ``training`` and ``held out`` -> counts.
        default_prompts: prompts of both splits that have the criteria of ``data.criteria``.
        own_gold: some prompt's hidden checks are not those of ``data.gold``.
    """

    shared: Sequence[Line] | None
    as_set: bool
    splits: Mapping[str, SplitLines]
    default_prompts: int
    own_gold: bool


def read_rubrics(experiment: "Experiment", data: Path) -> Rubrics:
    """From ``train.parquet`` and ``heldout.parquet`` in the folder of prepare-data.

    Raises:
        ContractError: a table is missing or breaks its contract.
    """
    rows = {
        name: read_table(data / file, PROMPTS).to_pylist()
        for name, file in (("training", "train.parquet"), ("held out", "heldout.parquet"))
    }
    rubrics = {name: [_lines(row) for row in found] for name, found in rows.items()}
    every = [rubric for found in rubrics.values() for rubric in found]
    default = tuple((line.text, line.points, line.verifier) for line in experiment.data.criteria)
    shared = every[0] if every and all(rubric == every[0] for rubric in every) else None
    gold = experiment.data.gold
    set_gold = None if gold is None else GoldChecks.parse(gold.model_dump(mode="json"), where="data.gold")
    golds = [_gold(row) for found in rows.values() for row in found]
    return Rubrics(
        shared=shared,
        as_set=bool(every) and shared == default,
        splits={name: _count(found) for name, found in rubrics.items()},
        default_prompts=sum(rubric == default for rubric in every),
        own_gold=any(found is not None and found != set_gold for found in golds),
    )


def in_words(rubrics: Rubrics) -> str:
    """The counts of prompts' own criteria, as the end of a sentence."""
    parts = [
        f"{name} {_number(found.lines, 'line')} in {_number(found.prompts, 'prompt')} ({found.judge} for the judge, "
        f"{found.rules} for rules; {found.penalties} of all are penalties)"
        for name, found in rubrics.splits.items()
    ]
    if rubrics.default_prompts:
        parts.append(f"{_number(rubrics.default_prompts, 'prompt')} of all with those of data.criteria")
    return "; ".join(parts)


def _lines(row: Mapping[str, Any]) -> tuple[Line, ...]:
    return tuple((line.text, line.points, line.verifier) for line in read_rubric(row["extra_info"]["rubric"]))


def _gold(row: Mapping[str, Any]) -> GoldChecks | TaskGold | None:
    return read_truth(row["reward_model"], f"row {row['extra_info']['id']}")


def _count(rubrics: Sequence[Sequence[Line]]) -> SplitLines:
    lines = [line for rubric in rubrics for line in rubric]
    return SplitLines(
        prompts=len(rubrics),
        lines=len(lines),
        judge=sum(verifier == "llm" for _, _, verifier in lines),
        rules=sum(verifier == "rule" for _, _, verifier in lines),
        penalties=sum(points < 0 for _, points, _ in lines),
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
