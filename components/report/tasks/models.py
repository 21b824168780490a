"""Models that were tested by their workflows: the policy before and after, and baselines that no policy wrote."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.core.contracts import TASK_SCORES, WORKFLOWS, read_table
from components.core.errors import ContractError
from components.report.evidence import TRAINED
from components.tasks.results import COMPARISONS, FILE
from components.workflow.log_name import TABLE

NAMES: Final[Mapping[str, str]] = {
    "base": "Base",
    "trained": "Trained",
    "direct": "Direct answer",
    "hand_written": "Hand-written workflow",
    "random_valid": "Random valid workflow",
}
"""Model -> in words, in the order of the report."""


@dataclasses.dataclass(frozen=True, slots=True)
class Gain:
    """The trained model's accuracy less another's on the same tasks.

    Attributes:
        n: tasks; of a mean over sets those of all sets.
        other: accuracy of the other model.
        trained: accuracy of the trained one.
        gain: the difference; None where nothing is known.
        low: lower end of its interval; None where there is none.
        high: its upper end.
    """

    n: int
    other: float | None
    trained: float | None
    gain: float | None
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """One model on the test sets.

    Attributes:
        name: as in the tables.
        label: in words.
        answers: workflows that were to be executed.
        right: right answers among them.
        unknown: answers that could not be scored.
        valid: answers that kept the contract.
        checked: answers of which that is known.
        means: mean over sets -> accuracy and the ends of its interval, which may be unknown.
        tokens: of the executor model for all answers.
        seconds: likewise.
        money: None where the executor has no price, or nothing was executed.
        gains: table -> the trained model beside this one; empty for itself.
    """

    name: str
    label: str
    answers: int
    right: int
    unknown: int
    valid: int
    checked: int
    means: Mapping[str, tuple[float, float | None, float | None]]
    tokens: int
    seconds: float
    money: float | None
    gains: Mapping[str, Gain]

    def per_answer(self, amount: float | None) -> float | None:
        """An amount by answer."""
        return None if amount is None or not self.answers else amount / self.answers

    def per_right(self, amount: float | None) -> float | None:
        """An amount by right answer, what was spent on others included; None where there is none."""
        return None if amount is None or not self.right else amount / self.right


def read_models(scores: Path) -> list[Model]:
    """What score-tasks published.

    Raises:
        ContractError: a table is missing or breaks its contract, or a file cannot be read.
    """
    rows = read_table(scores / "scores.parquet", TASK_SCORES).select(["model", "correct"]).to_pylist()
    wanted = ["model", "status", "source", "tokens", "seconds", "money"]
    workflows = read_table(scores / TABLE, WORKFLOWS).select(wanted).to_pylist()
    try:
        means = {path.parent.name: json.loads(path.read_bytes())["means"] for path in sorted(scores.glob(f"*/{FILE}"))}
        comparisons = json.loads((scores / COMPARISONS).read_bytes()) if len(means) > 1 and TRAINED in means else {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ContractError(f"figures of the test sets cannot be read: {error}", where=str(scores)) from error
    order = [name for name in NAMES if name in means]
    return [
        _model(
            name,
            [row for row in rows if row["model"] == name],
            [row for row in workflows if row["model"] == name],
            means[name],
            comparisons.get(name, {}),
        )
        for name in [*order, *sorted(set(means) - set(order))]
    ]


def _model(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    workflows: Sequence[Mapping[str, Any]],
    means: Mapping[str, Any],
    comparison: Mapping[str, Any],
) -> Model:
    checked = [row for row in workflows if row["status"] != "abstained" or row["source"] is not None]
    # What was not executed has no price.
    prices = [row["money"] for row in workflows if row["status"] != "invalid"]
    known = [price for price in prices if price is not None]
    return Model(
        name=name,
        label=NAMES.get(name, name),
        answers=len(rows),
        right=sum(row["correct"] is True for row in rows),
        unknown=sum(row["correct"] is None for row in rows),
        valid=sum(row["source"] is not None for row in checked),
        checked=len(checked),
        means={mean: (found["value"], *(found["interval"] or (None, None))) for mean, found in means.items()},
        tokens=sum(row["tokens"] for row in workflows),
        seconds=math.fsum(row["seconds"] for row in workflows),
        money=math.fsum(known) if known and len(known) == len(prices) else None,
        gains={table: _gain(measures["accuracy"]) for table, measures in comparison.items() if "accuracy" in measures},
    )


def _gain(found: Mapping[str, Any]) -> Gain:
    return Gain(found["n"], found["base"], found["trained"], found["gain"], found["low"], found["high"])
