"""Beginnings that prompts of a batch have in common, so that each is computed once: a compressed prefix tree."""

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

Ids = tuple[int, ...]

LEAST: Final = 16
"""Fewer tokens than this are cheaper to compute again than to keep."""


@dataclasses.dataclass(frozen=True, slots=True)
class Shared:
    """A beginning of two prompts or more.

    Attributes:
        ids: its tokens.
        parent: tokens of the next shorter one that it begins with; 0 when there is none.
        level: how many shorter ones it begins with.
    """

    ids: Ids
    parent: int
    level: int


def shared_prefixes(prompts: Sequence[Ids], least: int = LEAST) -> list[Shared]:
    """Beginnings worth keeping, each after the ones that it begins with.

    Each adds ``least`` tokens or more to the one before, and leaves at least one token of every prompt, whose output
    is wanted.

    Args:
        prompts: of at least one token.
        least: at least 1.
    """
    # Two groups whose shortest prompts are as long as what all have in common come to the same beginning.
    return list({each.ids: each for each in _grow(sorted(set(prompts)), 0, 0, least)}.values())


def cut(prompt: Ids, shared: Sequence[Shared]) -> int:
    """Tokens of the longest of ``shared`` that the prompt begins with; 0 without one."""
    fitting = (len(each.ids) for each in shared if len(each.ids) < len(prompt) and prompt[: len(each.ids)] == each.ids)
    return max(fitting, default=0)


def _grow(prompts: Sequence[Ids], kept: int, level: int, least: int) -> Iterator[Shared]:
    """``prompts`` are in order and begin alike, at least in ``kept`` tokens."""
    if len(prompts) < 2:
        return
    # In order, the first and the last differ the earliest.
    alike = _alike(prompts[0], prompts[-1])
    usable = min(alike, min(map(len, prompts)) - 1)
    if usable - kept >= least:
        yield Shared(prompts[0][:usable], kept, level)
        kept, level = usable, level + 1
    for _, group in groupby(prompts, lambda prompt: prompt[alike : alike + 1]):
        yield from _grow(list(group), kept, level, least)


def _alike(one: Ids, other: Ids) -> int:
    for place, (mine, yours) in enumerate(zip(one, other, strict=False)):
        if mine != yours:
            return place
    return min(len(one), len(other))
