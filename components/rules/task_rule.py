"""Rule ``task``: the official check of a task set, by the code that also scores test sets."""

import functools
from typing import Final, Protocol

from components.core.errors import ContractError
from components.judge.rule import Rule
from components.rules.finding import Finding
from components.tasks.gold import TaskGold, parse_gold
from components.tasks.score import TaskScore, TaskScorer

_DETAIL: Final = 500
"""Characters of an explanation that are kept."""


class Scorer(Protocol):
    """What scores answers; see :class:`components.tasks.score.TaskScorer`."""

    async def score(self, gold: TaskGold, response: str) -> TaskScore:
        """How far a model's raw text is right."""
        ...

    async def close(self) -> None:
        """End what it started."""
        ...


class TaskRule:
    """Checks answers against golds.

    Args:
        concurrency: checks at once in processes; None for as many as there are cores.
        scorer: what scores; None for one of its own, made at the first check.
    """

    def __init__(self, concurrency: int | None = None, scorer: Scorer | None = None) -> None:
        self._concurrency = concurrency
        self._scorer = scorer

    async def check(self, rule: Rule, response: str) -> Finding:
        """How far the response's answer is right.

        What has no answer, or one that is wrong, is wrong: that is the policy's doing. What could not be run at all is
        not known, and another try may end otherwise.

        Returns:
            A finding with the metric's value; it is met where the answer is right by the exact metric.
        """
        try:
            gold = _gold(str(rule["gold"]))
        except ContractError as error:
            return Finding(None, f"bad_gold: {error.what}"[:_DETAIL])
        if self._scorer is None:
            self._scorer = TaskScorer(self._concurrency)
        found = await self._scorer.score(gold, response)
        if found.correct is None:
            return Finding(None, f"not_scored: {found.detail}"[:_DETAIL], passing=True)
        value = found.f1 if rule["metric"] == "f1" else None
        return Finding(found.correct, value=float(found.correct) if value is None else value)

    async def close(self) -> None:
        """End the processes."""
        if self._scorer is not None:
            await self._scorer.close()
            self._scorer = None


@functools.lru_cache(maxsize=4096)
def _gold(text: str) -> TaskGold:
    """Read once for the responses of a group."""
    return parse_gold(text)
