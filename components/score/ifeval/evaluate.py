"""Strict and loose outcome of one response."""

from collections.abc import Sequence
from dataclasses import dataclass

from components.core.errors import ContractError
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


def evaluate(checks: Sequence[Check], response: str, *, where: str = "") -> Outcome:
    """Check a response, without reasoning, against a prompt's instructions. A blank one follows nothing.

    Args:
        checks: of the instructions.
        response: the text.
        where: file and key, for the error.

    Raises:
        ContractError: an instruction cannot be checked within a limit of time; it is then neither followed nor not.
    """
    variants = Variants(response)
    whole = variants.whole
    if not whole.stripped:
        nothing = (False,) * len(checks)
        return Outcome(nothing, nothing, nothing)
    strict, loose = [], []
    for place, check in enumerate(checks):
        try:
            strict.append(check.follows(whole))
            loose.append(strict[-1] or any(map(check.follows, variants.beside_whole(check.tendency))))
        except TimeoutError as error:
            raise ContractError(
                f"instruction {place} (from 0) takes too long to check on a response of {len(response)} characters",
                where=where,
                remedy="a response that is left out counts as not answered with --allow-missing; or write the pattern "
                "among the instruction's arguments without repetitions of repetitions",
            ) from error
    unsure = tuple(followed and check.unsure(whole) for check, followed in zip(checks, strict, strict=True))
    return Outcome(tuple(strict), tuple(loose), unsure)
