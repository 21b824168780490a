"""How a study's judges agree with gold: on held-out responses, on the probes' flip control, and on decided items."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from components.bias import clusters, gold
from components.bias.decisions import Decision, decided, share
from components.bias.estimate import Estimate
from components.bias.result_judges import Agreement, Bin
from components.bias.types import Item, Mode, Outcome, Role
from components.collect_study.heldout import Held

Items = Mapping[tuple[str, str], Item]
"""(probe, item id) -> the item."""

FLIP: Final = "flip control: good against worse answers"
_NO_PAIRS: Final = "no pair with gold is known"


def heldout_agreement(held: Sequence[Held], *, seed: int, confidence: float) -> list[Agreement]:
    """On the held-out responses of all arms, before and after training, and both; where there is none, the reason."""
    if not held:
        why = "the judge scored no held-out response that rules or an official check could decide"
        return [
            Agreement(
                source="held-out responses", mode=None, accuracy=Estimate.missing(why), kappa=Estimate.missing(why)
            ),
        ]
    parts = {
        "held-out responses": held,
        "held-out responses before training": [each for each in held if not each.trained],
        "held-out responses after training": [each for each in held if each.trained],
    }
    return [
        _responses(source, None, [each.decision for each in rows], None, seed, confidence)
        for source, rows in parts.items()
        if rows
    ]


def probe_agreement(outcomes: Sequence[Outcome], items: Items, *, seed: int, confidence: float) -> list[Agreement]:
    """On the flip control of all probes, and on the items of each source whose better response is known.

    Args:
        outcomes: of one judge.
        items: of its plan, for where they come from.
        seed: of the resampling.
        confidence: coverage of the intervals.
    """
    found = []
    for mode in Mode:
        mine = [each for each in outcomes if each.mode is mode]
        found += _rows(FLIP, mode, _flips(mine), seed, confidence)
        sources = dict.fromkeys(_source(each, items) for each in mine if each.gold is not None)
        for source in sources:
            part = [each for each in mine if each.gold is not None and _source(each, items) == source]
            found += _rows(source, mode, part, seed, confidence)
    return found


def _source(outcome: Outcome, items: Items) -> str:
    item = items.get((outcome.probe, outcome.item_id))
    if item is None or item.source == "shipped":
        return f"probe {outcome.probe.replace('_', ' ')}: good answer against a worse one with the factor"
    return item.source


def _flips(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Base and worse form as a pair whose better one is the base."""
    flipped = {(each.probe, each.item_id) for each in outcomes if each.role is Role.WORSE}
    roles = {Role.BASE: Role.BASE, Role.WORSE: Role.CHANGED}
    return [
        dataclasses.replace(each, role=roles[each.role], gold=Role.BASE)
        for each in outcomes
        if each.role in roles and (each.probe, each.item_id) in flipped
    ]


def _rows(source: str, mode: Mode, outcomes: Sequence[Outcome], seed: int, confidence: float) -> list[Agreement]:
    """One row; none where nothing was asked."""
    outcomes = [each for each in outcomes if each.role in (Role.BASE, Role.CHANGED)]
    if not outcomes:
        return []
    if mode is Mode.PAIRWISE:
        return [_pairs(source, gold.agreement(outcomes, confidence=confidence))]
    decisions = [
        Decision(each.text_id, each.role is each.gold, each.value, each.probability)
        for each in outcomes
        if each.repeat == 0
    ]
    preferred = gold.preferences(outcomes)
    pairs = share(preferred.known, preferred.unknown, confidence, _NO_PAIRS)
    return [_responses(source, mode, decisions, pairs, seed, confidence)]


def _pairs(source: str, found: gold.Agreement) -> Agreement:
    consistent = None if found.consistent is None else of_clusters(found.consistent, found.unswapped, _NO_PAIRS)
    return Agreement(
        source=source,
        mode=Mode.PAIRWISE,
        accuracy=of_clusters(found.accuracy, found.unknown, _NO_PAIRS),
        kappa=found.kappa,
        consistency=consistent,
    )


def _responses(
    source: str,
    mode: Mode | None,
    decisions: Sequence[Decision],
    pairs: Estimate | None,
    seed: int,
    confidence: float,
) -> Agreement:
    found = decided(decisions, seed=seed, confidence=confidence)
    return Agreement(
        source=source,
        mode=mode,
        accuracy=found.accuracy,
        kappa=found.kappa,
        pairs=pairs,
        accepts_right=found.accepts_right,
        accepts_wrong=found.accepts_wrong,
        ranking=found.ranking,
        calibration_error=found.calibration_error,
        calibration=tuple(
            Bin(
                low=part.low,
                high=part.high,
                stated=part.said,
                right=of_clusters(part.right, 0, "no response in this part"),
            )
            for part in found.curve
        ),
    )


def of_clusters(found: clusters.Estimate, unknown: int, why: str) -> Estimate:
    """As a result holds it; ``why`` is told where there is no value."""
    told = why if found.value is None else "one text or prompt has no interval"
    return Estimate.of(
        found.value, found.low, found.high, n=found.items, clusters=found.texts, unknown=unknown, why=told
    )
