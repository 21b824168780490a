"""The reward of a workflow: its weights and ladders. Not part of an experiment by itself."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import Conflict, Name, Spec

Value = Annotated[float, Field(ge=-10, le=10)]
Weight = Annotated[float, Field(ge=0, le=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]

LOWEST, HIGHEST = -1.0, 1.0
"""The scale of the gated variant, and of every term in it."""
_ROUNDING = 1e-9


class Rung(Spec):
    """One step of a ladder."""

    bound: Amount
    """From which score or share on, or up to which amount, this value holds. Unit: none. Required."""
    value: Value
    """What the term is worth there. Unit: reward. Required."""


class Ladder(Spec):
    """What a score, a share or an amount is worth: the value of the first rung that it keeps to."""

    bounds: Literal["at_least", "at_most"]
    """at_least: a score or share must reach a rung's bound; the highest bound comes first. at_most: an amount must not
    pass it; the lowest bound comes first. Unit: none. Required."""
    rungs: Annotated[tuple[Rung, ...], Field(min_length=1)]
    """The steps. Unit: none. Required."""
    otherwise: Value
    """What keeps to no rung is worth. Unit: reward. Required."""

    def __call__(self, amount: float) -> float:
        """The value of an amount from 0 on; a score or share is at most 1."""
        rising = self.bounds == "at_least"
        kept = (rung.value for rung in self.rungs if (amount >= rung.bound if rising else amount <= rung.bound))
        return next(kept, self.otherwise)

    @property
    def values(self) -> tuple[float, ...]:
        """All values, from the first rung to beyond the last."""
        return (*(rung.value for rung in self.rungs), self.otherwise)

    def conflicts(self) -> Iterable[Conflict]:
        bounds = [rung.bound for rung in self.rungs]
        falling = self.bounds == "at_least"
        if bounds != sorted(set(bounds), reverse=falling):
            how, first = ("fall", "highest") if falling else ("rise", "lowest")
            yield Conflict("rungs", f"the bounds {_told(bounds)} do not {how}", f"write the {first} bound first")
        if falling and max(bounds) > 1:
            yield Conflict("rungs", f"no score reaches {max(bounds):g}", "keep bounds of at_least in [0, 1]")


class TermWeights(Spec):
    """What each term counts for."""

    correctness: Weight = 0.65
    """Of whether the answer is right. Unit: none. Default: 0.65."""
    efficiency: Weight = 0.15
    """Of what the executor model was made to do. Unit: none. Default: 0.15."""
    simplicity: Weight = 0.10
    """Of time and number of calls. Unit: none. Default: 0.10."""
    format: Weight = 0.05
    """Of how the program stands in the response. Unit: none. Default: 0.05."""
    repetition: Weight = 0.05
    """Of how often the response repeats itself. Unit: none. Default: 0.05."""


class DomainLadders(Spec):
    """What the gold metric's score of an answer is worth, by domain."""

    math: Ladder
    """Of 1 for a right answer and 0 for any other. Unit: none. Required."""
    code: Ladder
    """Of 1 for a program that passes its tests and 0 for any other. Unit: none. Required."""
    qa: Ladder
    """Of F1 or exact match, or of the judge's verdict. Unit: none. Required."""


class EfficiencyLadder(Spec):
    """What the executor model's work is worth."""

    unit: Literal["tokens", "seconds", "money"]
    """What is counted: tokens read and written, seconds at work, or money by the executor's price. Unit: none.
    Required."""
    ladder: Ladder
    """What an amount of it is worth. Unit: none. Required."""


class SimplicityLadders(Spec):
    """The mean of two ladders."""

    seconds: Ladder
    """Of the seconds that operators were at work. Unit: none. Required."""
    calls: Ladder
    """Of the number of calls of operators. Unit: none. Required."""


class FormValues(Spec):
    """What the form of the response is worth."""

    exact: Value
    """One fenced block and nothing else. Unit: reward. Required."""
    mixed: Value
    """A fenced block beside other text. Unit: reward. Required."""
    bare: Value
    """The program without a fence. Unit: reward. Required."""


class WorkflowRewardSpec(Spec):
    """How a workflow's reward is made up."""

    name: Name
    """Name in reports. Unit: none. Required."""
    variant: Literal["gated", "as_described"] = "gated"
    """gated: all terms in [-1, 1], efficiency and simplicity of right answers alone, repetition subtracts.
    as_described: the former README's formula on its own mixed scale, for comparison; it pays for repetition, because it
    takes a penalty that is negative already with a minus sign. Unit: none. Default: "gated"."""
    weights: TermWeights = TermWeights()
    """What each term counts for. Unit: none. Default: {"correctness": 0.65, "efficiency": 0.15, "simplicity": 0.1,
    "format": 0.05, "repetition": 0.05}."""
    right_from: Share = 1.0
    """From which score on an answer counts as right, and efficiency and simplicity count. Unit: fraction.
    Default: 1.0."""
    failed: Value = LOWEST
    """Reward of a workflow that is invalid or fails: with gated, the scale's lowest value. Unit: reward.
    Default: -1.0."""
    correctness: DomainLadders
    """What a score is worth. Unit: none. Required."""
    efficiency: EfficiencyLadder
    """What the executor's work is worth. Unit: none. Required."""
    simplicity: SimplicityLadders
    """What time and calls are worth. Unit: none. Required."""
    format: FormValues
    """What the response's form is worth. Unit: none. Required."""
    repetition: Ladder
    """What the share of different sequences of three words is worth: 0 or less. Unit: none. Required."""

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest reward that there can be."""
        if self.variant == "gated":
            return LOWEST, HIGHEST
        most = sum(max(part) for part in self._weighted(sign=-1.0))
        return self.failed, most

    def conflicts(self) -> Iterable[Conflict]:
        if any(value > 0 for value in self.repetition.values):
            yield Conflict("repetition", "a value above 0 would pay for repetition", "write 0 or less")
        for key, ladder, bounds in self._ladders():
            if ladder.bounds != bounds:
                yield Conflict(f"{key}.bounds", f"{ladder.bounds}, where {bounds} is meant", f"set bounds: {bounds}")
        if self.variant == "gated":
            yield from self._gated_conflicts()

    def _gated_conflicts(self) -> Iterable[Conflict]:
        total = sum(self.weights.model_dump().values())
        if abs(total - 1) > _ROUNDING:
            yield Conflict("weights", f"they add up to {total:g}", "let them add up to 1, as the scale is [-1, 1]")
        if self.failed != LOWEST:
            yield Conflict("failed", f"{self.failed:g} is not the lowest value of the scale", "set failed: -1.0")
        terms = {key: ladder.values for key, ladder, _ in self._ladders()}
        for key, values in {**terms, "format": tuple(self.format.model_dump().values())}.items():
            if outside := [value for value in values if not LOWEST <= value <= HIGHEST]:
                yield Conflict(key, f"{_told(outside)} is outside of [-1, 1]", "keep every term on the one scale")
            if list(values) != sorted(values, reverse=True):
                yield Conflict(key, f"the values {_told(values)} do not fall", "let what is worse be worth no more")
        yield from self._order_conflicts()

    def _order_conflicts(self) -> Iterable[Conflict]:
        weights = self.weights
        dear = weights.efficiency * min(self.efficiency.ladder.values)
        dear += weights.simplicity * (min(self.simplicity.seconds.values) + min(self.simplicity.calls.values)) / 2
        for domain in ("math", "code", "qa"):
            ladder: Ladder = getattr(self.correctness, domain)
            right = weights.correctness * ladder(self.right_from) + dear
            below = [rung.value for rung in ladder.rungs if rung.bound < self.right_from]
            wrong = weights.correctness * max([*below, ladder.otherwise])
            if right <= wrong:
                what = f"a dear right answer gets {right:g} and one that is not right up to {wrong:g}, all else alike"
                yield Conflict(f"correctness.{domain}", what, "lower what lies below right_from")
        least = sum(min(part) for part in self._weighted(sign=1.0, gated=True))
        if least <= LOWEST:
            yield Conflict("weights", f"a wrong answer can get {least:g}, no more than a failure", "raise the ladders")

    def _ladders(self) -> Iterable[tuple[str, Ladder, str]]:
        """Key, ladder, and what its bounds must be."""
        for domain in ("math", "code", "qa"):
            yield f"correctness.{domain}", getattr(self.correctness, domain), "at_least"
        yield "efficiency.ladder", self.efficiency.ladder, "at_most"
        yield "simplicity.seconds", self.simplicity.seconds, "at_most"
        yield "simplicity.calls", self.simplicity.calls, "at_most"
        yield "repetition", self.repetition, "at_least"

    def _weighted(self, sign: float, *, gated: bool = False) -> Iterable[tuple[float, ...]]:
        """The values that each weighted term can have; of wrong answers where ``gated``."""
        weights, ladders = self.weights, self.correctness
        for weight, values in (
            (weights.correctness, (*ladders.math.values, *ladders.code.values, *ladders.qa.values)),
            (weights.efficiency, (0.0,) if gated else self.efficiency.ladder.values),
            (weights.simplicity / 2, (0.0,) if gated else self.simplicity.seconds.values),
            (weights.simplicity / 2, (0.0,) if gated else self.simplicity.calls.values),
            (weights.format, tuple(self.format.model_dump().values())),
            (sign * weights.repetition, self.repetition.values),
        ):
            yield tuple(weight * value for value in values)


def _told(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
