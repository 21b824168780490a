"""A judge's bias on each axis, out of what it answered."""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from components.bias.clusters import CONFIDENCE, Estimate, estimate
from components.bias.types import AGAINST_PLACEBO, Measure, Mode, Outcome, Role
from components.bias.values import ItemAnswers, by_item, flip, observed, placebo
from components.core.errors import ContractError

SCALES: Mapping[Measure, tuple[float, float]] = {
    Measure.SHIFT: (-1.0, 1.0),
    Measure.FIRST_SLOT: (-0.5, 0.5),
    Measure.ACCEPTANCE: (0.0, 1.0),
    Measure.DISAGREEMENT: (0.0, 1.0),
    Measure.FAILURE: (-1.0, 1.0),
}
_SHARES = frozenset({Measure.ACCEPTANCE, Measure.DISAGREEMENT})


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """One judge on one probe in one mode.

    Attributes:
        judge: its name.
        probe: the probe's name.
        mode: how the judge was asked.
        measure: what the effect is.
        bias: the effect; 0 is an unbiased judge.
        against: what the changed form was held against, ``placebo`` or ``base``; None where the measure needs nothing.
        placebo: the paraphrase against the base, in the same units; None where the probe has none.
        flip: the base above the worse form; None where the probe has no worse form. Where it is not above 0, the judge
            sees nothing.
        noise: share of contradicting pairs of repetitions, the noise floor; None where nothing was asked twice.
        asked: outcomes by role.
        unknown: those of them without a value, by role.
        reasons: the same by reason.
        items: items that were asked.
        dropped: items left out of ``bias`` because a value they need is unknown.
        apart: items that are not of this measure: without a placebo in a probe whose other items have one, such as
            mounted pairs with a gold label. They count for the agreement with gold alone.
    """

    judge: str
    probe: str
    mode: Mode
    measure: Measure
    bias: Estimate
    against: Role | None
    placebo: Estimate | None
    flip: Estimate | None
    noise: Estimate | None
    asked: Mapping[Role, int]
    unknown: Mapping[Role, int]
    reasons: Mapping[str, int]
    items: int
    dropped: int
    apart: int = 0


def measure_effects(
    outcomes: Iterable[Outcome], measures: Mapping[str, Measure], *, confidence: float = CONFIDENCE
) -> list[Effect]:
    """The effects of all judges, probes and modes in a table of outcomes.

    Args:
        outcomes: in any order.
        measures: probe -> what it measures.
        confidence: coverage of the intervals, in (0, 1).

    Returns:
        In the order of judge, probe, mode.

    Raises:
        ContractError: a probe without a measure, one of the first place asked otherwise than pairwise, or an item with
            two texts.
    """
    groups: dict[tuple[str, str, Mode], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[(outcome.judge, outcome.probe, outcome.mode)].append(outcome)
    for _, probe, mode in groups:
        if probe not in measures:
            raise ContractError(
                f"outcomes of probe {probe!r}, whose measure is not known",
                where="table of outcomes",
                remedy="give the table the probes it was made with",
            )
        if measures[probe] is Measure.FIRST_SLOT and mode is not Mode.PAIRWISE:
            raise ContractError(
                f"probe {probe!r} measures the first place and was asked in mode {mode.value}",
                where="table of outcomes",
                remedy="ask it pairwise",
            )
    return [
        _effect(key, groups[key], measures[key[1]], confidence)
        for key in sorted(groups, key=lambda each: (each[0], each[1], each[2].value))
    ]


def _effect(key: tuple[str, str, Mode], outcomes: Sequence[Outcome], measure: Measure, confidence: float) -> Effect:
    asked = Counter(outcome.role for outcome in outcomes)
    against = _against(measure, asked, pairwise=key[2] is Mode.PAIRWISE)
    items = measured(outcomes, measure)

    def over(value_of: Callable[[ItemAnswers], float | None], scale: tuple[float, float], share: bool) -> Estimate:
        known = [(value, item.text_id) for item in items.values() if (value := value_of(item)) is not None]
        values, texts = [value for value, _ in known], [text for _, text in known]
        return estimate(values, texts, scale=scale, share=share, confidence=confidence)

    scale, share = SCALES[measure], measure in _SHARES
    bias = over(lambda item: observed(item, measure, against), scale, share)
    noise = over(lambda item: item.disagreement(), (0.0, 1.0), True)
    has_placebo = Role.PLACEBO in asked and measure is not Measure.DISAGREEMENT
    plain = (-1.0, 1.0) if share else scale
    return Effect(
        judge=key[0],
        probe=key[1],
        mode=key[2],
        measure=measure,
        bias=bias,
        against=against,
        placebo=over(lambda item: placebo(item, measure), plain, False) if has_placebo else None,
        flip=over(flip, (-1.0, 1.0), False) if Role.WORSE in asked else None,
        noise=noise if noise.items else None,
        asked=dict(asked),
        unknown=dict(Counter(outcome.role for outcome in outcomes if outcome.value is None)),
        reasons=dict(Counter(outcome.reason for outcome in outcomes if outcome.reason is not None)),
        items=len(items),
        dropped=len(items) - bias.items,
        apart=len({outcome.item_id for outcome in outcomes}) - len(items),
    )


def measured(outcomes: Sequence[Outcome], measure: Measure) -> Mapping[str, ItemAnswers]:
    """Item -> its answers, of one judge, probe and mode: without those that stand apart, see :attr:`Effect.apart`.

    Raises:
        ContractError: an item has two texts.
    """
    held = measure in AGAINST_PLACEBO and any(outcome.role is Role.PLACEBO for outcome in outcomes)
    return {name: item for name, item in by_item(outcomes).items() if not held or item.asked(Role.PLACEBO)}


def item_effects(outcomes: Sequence[Outcome], measure: Measure) -> dict[str, tuple[float, str]]:
    """Item -> its effect and its text, of one judge, probe and mode; as :func:`measure_effects` has them.

    Raises:
        ContractError: an item has two texts.
    """
    asked = Counter(outcome.role for outcome in outcomes)
    against = _against(measure, asked, pairwise=any(each.mode is Mode.PAIRWISE for each in outcomes))
    found = {}
    for item_id, item in measured(outcomes, measure).items():
        value = observed(item, measure, against)
        if value is not None:
            found[item_id] = value, item.text_id
    return found


def _against(measure: Measure, asked: Mapping[Role, int], *, pairwise: bool) -> Role | None:
    """The placebo where the probe has one; else the base, which pairwise stands in every question already."""
    if measure not in AGAINST_PLACEBO:
        return None
    if Role.PLACEBO in asked:
        return Role.PLACEBO
    return None if measure is Measure.FAILURE and pairwise else Role.BASE
