"""Scores all lines of a file; many at once, in the order of the file."""

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Final

from components.core.progress import Progress
from components.score.tasks.lines import Prediction
from components.tasks.gold import QaGold
from components.tasks.score import TaskScore, TaskScorer, question_score

_AT_ONCE: Final = 64


async def score_lines(lines: Sequence[Prediction], progress: Progress | None = None) -> list[tuple[TaskScore, ...]]:
    """The scores of each line's answers.

    A question's prediction is the answer itself; anything else is a model's raw text. Supporting facts count where any
    line of the file predicts some: then a line without them has none right.

    Raises:
        ServiceError: this machine has no sandbox, or lacks a package.
    """
    asked = any(line.facts is not None for line in lines)
    slots = asyncio.Semaphore(_AT_ONCE)
    scorer = TaskScorer()

    async def one(line: Prediction, answer: str) -> TaskScore:
        if isinstance(line.gold, QaGold):
            gold = line.gold if asked else dataclasses.replace(line.gold, supporting=())
            score = question_score(gold, answer, line.facts)
        else:
            async with slots:
                score = await scorer.score(line.gold, answer)
        if progress is not None:
            progress.advance()
        return score

    async def all_of(line: Prediction) -> tuple[TaskScore, ...]:
        return tuple(await asyncio.gather(*(one(line, answer) for answer in line.answers)))

    try:
        return list(await asyncio.gather(*(all_of(line) for line in lines)))
    finally:
        await scorer.close()
