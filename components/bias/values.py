"""One number an item, by what the probe measures; None where the judge's answers do not give it."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from components.bias.types import Measure, Mode, Outcome, Role
from components.core.errors import ContractError
from components.judge.verdict import UnknownReason

Cell = tuple[Role, str | None]
ORDERS: Final = ("base_first", "base_second")
NOT_THE_JUDGES: Final = frozenset(
    {
        UnknownReason.JUDGE_DOWN,
        UnknownReason.STREAM_ERROR,
        UnknownReason.STREAM_CUT,
        UnknownReason.NO_FINISH,
        UnknownReason.REJECTED,
        UnknownReason.BUDGET,
        UnknownReason.EMPTY_RESPONSE,
        UnknownReason.RULE_FAILED,
    }
)
"""Reasons that say nothing of how the judge reads a response: nobody was asked, or the server or network failed. A
probe of failures leaves such calls out; it keeps timeouts, since a longer response may well cause them."""


class ItemAnswers:
    """All outcomes of one item, by one judge in one mode.

    Args:
        outcomes: at least one, all of one judge, probe, mode and item.
    """

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.text_id = outcomes[0].text_id
        self.pairwise = outcomes[0].mode is Mode.PAIRWISE
        self._cells: dict[Cell, list[Outcome]] = defaultdict(list)
        for outcome in sorted(outcomes, key=lambda each: each.repeat):
            self._cells[(outcome.role, outcome.order)].append(outcome)

    def asked(self, role: Role) -> bool:
        """Whether a form of this role was put to the judge at all."""
        return any(at is role for at, _ in self._cells)

    def value(self, role: Role) -> float | None:
        """Mean over the repetitions; pairwise, the mean of both orders, known only when both are, since one alone would
        carry the judge's taste for a place."""
        if not self.pairwise:
            return _mean(_known(self._cells.get((role, None), ())))
        both = [_mean(_known(self._cells.get((role, order), ()))) for order in ORDERS]
        return None if both[0] is None or both[1] is None else (both[0] + both[1]) / 2.0

    def gain(self, role: Role) -> float | None:
        """Value of a form above the base's; pairwise, above the one half of two equals."""
        value, base = self.value(role), 0.5 if self.pairwise else self.value(Role.BASE)
        return None if value is None or base is None else value - base

    def first_slot(self, role: Role) -> float | None:
        """How much more often than half the first place is preferred, in [-1/2, 1/2]; needs both orders."""
        front = _mean(_known(self._cells.get((role, ORDERS[0]), ())))
        back = _mean(_known(self._cells.get((role, ORDERS[1]), ())))
        return None if front is None or back is None else (back - front) / 2.0

    def alone(self, role: Role, order: str) -> float | None:
        """Mean over the repetitions in one order; pairwise alone."""
        return _mean(_known(self._cells.get((role, order), ())))

    def failed(self, role: Role) -> float | None:
        """Share of failed calls among those that tell of the judge, see :data:`NOT_THE_JUDGES`."""
        told = [
            outcome.reason is not None
            for (at, _), outcomes in self._cells.items()
            for outcome in outcomes
            if at is role and outcome.reason not in NOT_THE_JUDGES
        ]
        return sum(told) / len(told) if told else None

    def disagreement(self) -> float | None:
        """Share of pairs of repetitions of one question with different values, mean over the questions that have two
        known ones."""
        shares = []
        for outcomes in self._cells.values():
            pairs = list(itertools.combinations(_known(outcomes), 2))
            if pairs:
                shares.append(sum(one != other for one, other in pairs) / len(pairs))
        return _mean(shares)


def by_item(outcomes: Iterable[Outcome]) -> Mapping[str, ItemAnswers]:
    """Outcomes of one judge, probe and mode, item by item.

    Raises:
        ContractError: an item has two texts.
    """
    found: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.item_id].append(outcome)
    for item_id, each in found.items():
        if len({outcome.text_id for outcome in each}) > 1:
            raise ContractError(f"item {item_id} has outcomes under more than one text", where="table of outcomes")
    return {item_id: ItemAnswers(each) for item_id, each in sorted(found.items())}


def observed(answers: ItemAnswers, measure: Measure, against: Role | None) -> float | None:
    """The item's effect by the probe's measure.

    Args:
        answers: of the item.
        measure: the probe's.
        against: what the changed form is held against: ``placebo``, ``base``, or None where the measure has nothing.
    """
    if measure is Measure.FIRST_SLOT:
        return answers.first_slot(Role.CHANGED)
    if measure is Measure.ACCEPTANCE:
        return answers.value(Role.CHANGED)
    if measure is Measure.DISAGREEMENT:
        return answers.disagreement()
    if measure is Measure.FAILURE:
        return _less(answers.failed(Role.CHANGED), answers.failed(against) if against else 0.0)
    if against is Role.PLACEBO:
        return _less(answers.value(Role.CHANGED), answers.value(Role.PLACEBO))
    return answers.gain(Role.CHANGED)


def placebo(answers: ItemAnswers, measure: Measure) -> float | None:
    """The same for the neutral paraphrase against the base: near 0 where the paraphrase is neutral."""
    if measure is Measure.FIRST_SLOT:
        return answers.first_slot(Role.PLACEBO)
    if measure is Measure.FAILURE:
        return _less(answers.failed(Role.PLACEBO), answers.failed(Role.BASE))
    return answers.gain(Role.PLACEBO)


def flip(answers: ItemAnswers) -> float | None:
    """How far the worse form stands below the base: above 0 where the judge sees quality."""
    gain = answers.gain(Role.WORSE)
    return None if gain is None else -gain


def _known(outcomes: Iterable[Outcome]) -> list[float]:
    return [outcome.value for outcome in outcomes if outcome.value is not None]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
