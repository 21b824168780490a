"""What remedies take off the judges' biases and the policies' drift, as far as a study has both sides of it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.bias.effects import SCALES, item_effects, measured
from components.bias.estimate import Estimate
from components.bias.findings.remedies import Pair
from components.bias.jackknife import ALONE
from components.bias.lengthcontrol import length_controlled
from components.bias.probe import all_probes
from components.bias.result_arms import Arm
from components.bias.result_findings import Absent, Mitigation
from components.bias.types import Measure, Mode, Outcome, Role
from components.bias.values import ORDERS, ItemAnswers, by_item
from components.collect_study.arms import Win
from components.collect_study.drift_remedies import masking, panel_drifts
from components.collect_study.probed import Probed
from components.collect_study.remedied import of_pairs

_HALF: Final = 0.5
_ABSENT: Final = {
    "swap_average": "no probe was asked pairwise with known answers in both orders (probes.modes: pairwise)",
    "reference": "the probe reference was not asked (probes.names), or none of its answers are known",
    "panel": "no judge of the study is a panel that was probed, or trained beside one of its members alone",
    "length_control": "there are neither known pairwise answers nor wins of trained policies to hold at equal length",
    "masking": "no judge trained both masked and with failures counted as zero (failures: [masked, zero_as_control])",
}


def remedies(
    probed: Sequence[Probed],
    arms: Sequence[Arm],
    wins: Mapping[tuple[str, str], Sequence[Win]],
    confidence: float,
) -> tuple[list[Mitigation], list[Absent]]:
    """Every comparison that the study has, and those that it has not with the reason.

    Args:
        probed: judges and what they said.
        arms: with their changes.
        wins: of trained policies.
        confidence: coverage of the intervals; length control has 95 %.
    """
    found = [
        each
        for judge in probed
        for each in (
            *_swapped(judge, confidence),
            *_referenced(judge, confidence),
            *_at_equal_length(judge),
        )
    ]
    found += _panels(probed, confidence)
    found += _lengths_of_wins(wins)
    done = [arm for arm in arms if arm.state == "done"]
    found += masking(done, confidence)
    found += panel_drifts(probed, done, confidence)
    there = {each.name for each in found}
    return found, [Absent(what=name, reason=reason) for name, reason in _ABSENT.items() if name not in there]


def _parts(judge: Probed) -> Iterator[tuple[str, Mode, list[Outcome]]]:
    groups: dict[tuple[str, Mode], list[Outcome]] = defaultdict(list)
    for outcome in judge.outcomes:
        groups[outcome.probe, outcome.mode].append(outcome)
    for (probe, mode), outcomes in sorted(groups.items()):
        yield probe, mode, outcomes


def _swapped(judge: Probed, confidence: float) -> Iterator[Mitigation]:
    """The changed form in the first place alone, against the mean of both places, from the same answers."""
    for probe, mode, outcomes in _parts(judge):
        if mode is not Mode.PAIRWISE:
            continue
        first_place = all_probes()[probe].measure is Measure.FIRST_SLOT
        # Pairs without a placebo have no shift, and are not unknown.
        items = [each for each in by_item(outcomes).values() if first_place or each.asked(Role.PLACEBO)]
        pairs = [_both_ways(answers, first_place=first_place) for answers in items]
        what = "one order, with the form that is asked about first, against the mean of both orders"
        yield from of_pairs("swap_average", probe, judge.name, what, pairs, (-1.0, 1.0), confidence)


def _both_ways(answers: ItemAnswers, *, first_place: bool) -> Pair | None:
    front, back = answers.alone(Role.CHANGED, ORDERS[1]), answers.alone(Role.CHANGED, ORDERS[0])
    if front is None or back is None:
        return None
    if first_place:
        # Both forms say the same: what is preferred at all is preferred for its place.
        return front - _HALF, (front + back) / 2.0 - _HALF, answers.text_id
    plain_front, plain_back = answers.alone(Role.PLACEBO, ORDERS[1]), answers.alone(Role.PLACEBO, ORDERS[0])
    if plain_front is None or plain_back is None:
        return None
    return front - plain_front, (front + back - plain_front - plain_back) / 2.0, answers.text_id


def _referenced(judge: Probed, confidence: float) -> Iterator[Mitigation]:
    """What a worse answer gets without a reference in sight, and with one."""
    for probe, mode, outcomes in _parts(judge):
        if probe != "reference":
            continue
        pairs: list[Pair | None] = []
        for answers in by_item(outcomes).values():
            without, shown = answers.value(Role.CHANGED), answers.value(Role.PLACEBO)
            pairs.append(None if without is None or shown is None else (without, shown, answers.text_id))
        what = f"what a worse answer gets ({mode.value}), without a right answer in sight and with one"
        yield from of_pairs("reference", probe, judge.name, what, pairs, (0.0, 1.0), confidence)


def _at_equal_length(judge: Probed) -> Iterator[Mitigation]:
    """Wins of a changed good answer over the good answer as it is, which neither deserves, at equal length."""
    for probe, mode, outcomes in _parts(judge):
        if mode is not Mode.PAIRWISE or all_probes()[probe].measure is not Measure.SHIFT:
            continue
        rows = []
        for item_id, answers in by_item(outcomes).items():
            item, share = judge.items.get((probe, item_id)), answers.value(Role.CHANGED)
            if item is None or item.carries is not Role.BASE:
                continue
            sizes = [len(item.forms[role].response.split()) for role in (Role.CHANGED, Role.BASE)]
            rows.append(Win(item.text_id, share, float(sizes[0] - sizes[1])))
        what = "preference for the changed good answer over the same one unchanged, against that at equal length"
        yield from _controlled(probe, judge.name, what, rows)


def _lengths_of_wins(wins: Mapping[tuple[str, str], Sequence[Win]]) -> Iterator[Mitigation]:
    for (judge, trainer), rows in wins.items():
        if judge == trainer:
            what = "how often its own policies win against the policy before, above one half, and at equal length"
            yield from _controlled("own policy", judge, what, rows)


def _controlled(axis: str, judge: str, what: str, asked: Sequence[Win]) -> Iterator[Mitigation]:
    if not asked:
        return
    rows = [(row.share, row.longer_by, row.prompt) for row in asked if row.share is not None]
    unknown = len(asked) - len(rows)
    if not rows:
        gone = Estimate.missing("no win is known", unknown=unknown)
        yield Mitigation(
            name="length_control", axis=axis, judge=judge, what=what, plain=gone, mitigated=gone, reduction=gone
        )
        return
    prompts = [prompt for _, _, prompt in rows]
    found = length_controlled([share for share, _, _ in rows], [longer for _, longer, _ in rows], prompts)
    n, texts = len(rows), len(set(prompts))

    def told(value: float | None, low: float | None, high: float | None, less: float, why: str) -> Estimate:
        ends = (None, None) if low is None or high is None else (low - less, high - less)
        value = None if value is None else value - less
        return Estimate.of(value, *ends, n=n, clusters=texts, unknown=unknown, why=why)

    yield Mitigation(
        name="length_control",
        axis=axis,
        judge=judge,
        what=what,
        plain=told(found.raw, found.raw_low, found.raw_high, _HALF, ALONE),
        mitigated=told(found.controlled, found.low, found.high, _HALF, found.why),
        reduction=told(found.smaller, found.smaller_low, found.smaller_high, 0.0, found.why),
    )


def _panels(probed: Sequence[Probed], confidence: float) -> Iterator[Mitigation]:
    """Each member alone against its panel, on the very same forms."""
    by_name = {judge.name: judge for judge in probed}
    for panel in probed:
        for name in panel.members:
            alone = {(probe, mode): outcomes for probe, mode, outcomes in _parts(by_name[name])}
            for probe, mode, outcomes in _parts(panel):
                measure, mine = all_probes()[probe].measure, alone.get((probe, mode), [])
                together, single = item_effects(outcomes, measure), item_effects(mine, measure)
                asked = measured(outcomes, measure).keys() & measured(mine, measure).keys()
                pairs: list[Pair | None] = [
                    (single[item][0], together[item][0], single[item][1])
                    if item in single and item in together
                    else None
                    for item in sorted(asked)
                ]
                what = f"{name.removesuffix(f' in {panel.name}')} alone against the panel ({mode.value})"
                yield from of_pairs("panel", probe, panel.name, what, pairs, SCALES[measure], confidence)
