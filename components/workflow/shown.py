"""Which examples of the buffer a problem's prompt shows, as many as fit."""

import collections
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from components.judge.flights import Flights
from components.workflow.buffer.buffer import ExperienceBuffer
from components.workflow.buffer.entry import Entry
from components.workflow.prompts.layer1 import Example, with_examples
from components.workflow.types import Problem

EXAMPLES: Final = "gavel_examples"
"""Name under which an agent loop tells the reward manager which examples were shown."""
_REMEMBERED: Final = 4096
"""Prompts at most."""

Key = tuple[int, str]
"""Step of the trainer and id of the row: what the samples of a group have in common."""
Shown = tuple[str, list[str]]
"""A prompt, and the hashes of the workflows in it."""


class Shower:
    """Puts examples into prompts. All samples of a problem in a step are shown the same ones, in the same prompt, which
    is looked up and made once, also where they come at once. For one event loop.

    Args:
        buffer: of the training.
        number: most examples of a prompt.
    """

    def __init__(self, buffer: ExperienceBuffer, number: int) -> None:
        self._buffer, self._number = buffer, number
        self._known: collections.OrderedDict[Key, Shown] = collections.OrderedDict()
        self._flights: Flights[Key, Shown] = Flights()

    async def prompt(
        self, plain: str, problem: Problem, problem_id: str, *, step: int, fits: Callable[[str], Awaitable[bool]]
    ) -> Shown:
        """The prompt with examples, and the hashes of their workflows.

        Args:
            plain: the user's turn as prepared.
            problem: what it is about.
            problem_id: of its row.
            step: of the trainer; entries of earlier steps are looked at.
            fits: whether a turn leaves room for the response; the last example is left out until it does.

        Raises:
            ContractError: the prompt has no place for examples.
            StorageError: the buffer cannot be read.
        """
        key = step, problem_id
        if key in self._known:
            return self._known[key]

        async def make() -> Shown:
            found = self._buffer.similar(problem.text, problem.domain, self._number, step=step, problem_id=problem_id)
            made = self._known[key] = await self._fitting(plain, [entry for entry, _ in found], fits)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            return made

        return (await self._flights.run(key, make))[0]

    async def _fitting(self, plain: str, entries: Sequence[Entry], fits: Callable[[str], Awaitable[bool]]) -> Shown:
        for number in range(len(entries), 0, -1):
            shown = entries[:number]
            text = with_examples(plain, [Example(each.problem, each.workflow, each.reward) for each in shown])
            if await fits(text):
                return text, [each.workflow_hash for each in shown]
        return with_examples(plain, ()), []
