"""Strict and loose outcome of one response."""

from collections.abc import Sequence
from dataclasses import dataclass

from components.score.ifeval.checks.base import Check
from components.score.ifeval.variants import Variants


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a response follows, an entry an instruction.

    Attributes:
        strict: on the response as it is.
        loose: on any of its eight variants; true wherever ``strict`` is.
        unsure: strictly followed only because no language could be told.
    """

    strict: tuple[bool, ...]
    loose: tuple[bool, ...]
    unsure: tuple[bool, ...]


def evaluate(checks: Sequence[Check], response: str) -> Outcome:
    """Check a response, without reasoning, against a prompt's instructions. A blank one follows nothing."""
    variants = Variants(response)
    whole = variants.whole
    if not whole.stripped:
        nothing = (False,) * len(checks)
        return Outcome(nothing, nothing, nothing)
    strict = tuple(check.follows(whole) for check in checks)
    loose = tuple(
        followed or any(map(check.follows, variants.beside_whole(check.tendency)))
        for check, followed in zip(checks, strict, strict=True)
    )
    unsure = tuple(followed and check.unsure(whole) for check, followed in zip(checks, strict, strict=True))
    return Outcome(strict, loose, unsure)
