"""Equal-opportunity differences of a study's judges, wherever it is known what is right."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.bias.estimate import Estimate
from components.bias.opportunity import apart, paired
from components.bias.own_writing import DECIDED
from components.bias.probe import all_probes
from components.bias.result_findings import Absent, Opportunity
from components.bias.types import Item, Measure, Mode, Outcome, Role
from components.bias.values import ItemAnswers, by_item
from components.collect_study.heldout import Held
from components.collect_study.probed import Probed

_HALF: Final = 0.5
_NO_GOLD: Final = "no right responses with and without a factor were judged"


def opportunities(
    probed: Sequence[Probed], held: Mapping[str, Sequence[Held]], confidence: float
) -> tuple[list[Opportunity], list[Absent]]:
    """All that the study has; where it has none, why.

    Args:
        probed: judges and what they said.
        held: judge -> held-out responses with gold under it.
        confidence: coverage of the intervals.
    """
    found = [row for judge in probed for row in (*_of_probes(judge, confidence), *_of_decided(judge, confidence))]
    found += [
        row
        for judge in probed
        if not judge.member
        for row in _of_policies(judge.name, held.get(judge.name, ()), confidence)
    ]
    return found, [] if found else [Absent(what="equal opportunity", reason=_NO_GOLD)]


def _of_probes(judge: Probed, confidence: float) -> Iterator[Opportunity]:
    groups: dict[tuple[str, Mode], list[Outcome]] = defaultdict(list)
    for outcome in judge.outcomes:
        if all_probes()[outcome.probe].measure is Measure.SHIFT:
            groups[outcome.probe, outcome.mode].append(outcome)
    for (probe, mode), outcomes in sorted(groups.items()):
        rows: dict[Role, list[tuple[float, float, str]]] = {Role.BASE: [], Role.WORSE: []}
        unknown = {Role.BASE: 0, Role.WORSE: 0}
        for item_id, answers in by_item(outcomes).items():
            item = judge.items.get((probe, item_id))
            if item is None or item.carries is None or not answers.asked(Role.PLACEBO):
                continue
            changed, plain = answers.value(Role.CHANGED), answers.value(Role.PLACEBO)
            if changed is None or plain is None:
                unknown[item.carries] += 1
            else:
                rows[item.carries].append((changed, plain, answers.text_id))
        if mode is Mode.PAIRWISE:
            # The better one wins where the worse one does not: its chance without the factor in its rival, less with.
            told = [(1.0 - _won(plain), 1.0 - _won(changed), text) for changed, plain, text in rows[Role.WORSE]]
            if told or unknown[Role.WORSE]:
                yield Opportunity(
                    judge=judge.name,
                    axis=probe,
                    mode=mode,
                    what="the better one wins: its rival without the factor, less its rival with it",
                    difference=paired(told, unknown[Role.WORSE], confidence=confidence),
                )
            continue
        right, wrong = (
            paired(
                [(float(one > _HALF), float(other > _HALF), text) for one, other, text in rows[role]],
                unknown[role],
                confidence=confidence,
            )
            for role in (Role.BASE, Role.WORSE)
        )
        if rows[Role.BASE] or unknown[Role.BASE]:
            yield Opportunity(
                judge=judge.name,
                axis=probe,
                mode=mode,
                what="good answers accepted: with the factor, less without it",
                difference=right,
                wrong=wrong if rows[Role.WORSE] or unknown[Role.WORSE] else None,
            )


def _of_decided(judge: Probed, confidence: float) -> Iterator[Opportunity]:
    """Pairs that people or a key have decided: by length, and by whose writing the better one is."""
    groups: dict[tuple[str, Mode], list[Outcome]] = defaultdict(list)
    for outcome in judge.outcomes:
        item = judge.items.get((outcome.probe, outcome.item_id))
        if outcome.gold is not None and item is not None and item.source != "shipped":
            groups[outcome.probe if item.source == DECIDED else "length", outcome.mode].append(outcome)
    for (axis, mode), outcomes in sorted(groups.items()):
        rows: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
        unknown = 0
        for probe in dict.fromkeys(each.probe for each in outcomes):
            for item_id, answers in by_item(each for each in outcomes if each.probe == probe).items():
                item = judge.items[probe, item_id]
                won, having = _better_wins(answers, item), _has(item, axis)
                if having is not None and won is not None:
                    rows[having].append((won, answers.text_id))
                elif having is not None:
                    unknown += 1
        if not rows[True] and not rows[False] and not unknown:
            continue
        length = "the better one wins: where it is the longer one, less where it is the shorter one"
        own = "the better one wins: where it is of the judge's own, less where it is another's"
        yield Opportunity(
            judge=judge.name,
            axis=axis,
            mode=mode,
            what=length if axis == "length" else own,
            difference=apart(rows[True], rows[False], unknown, confidence=confidence),
        )


def _of_policies(judge: str, held: Sequence[Held], confidence: float) -> Iterator[Opportunity]:
    """Right and wrong responses of policies that the judge trained, beside those that other judges trained."""
    trained = [each for each in held if each.trained and each.trainer]

    def difference(*, right: bool) -> Estimate:
        groups: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
        mine = [each for each in trained if each.decision.right is right]
        known = [each for each in mine if each.decision.value is not None]
        for each in known:
            rate = float(bool(each.decision.accepted))
            groups[each.trainer == judge].append((rate, each.decision.cluster))
        unknown = len(mine) - len(known)
        return apart(groups[True], groups[False], unknown, confidence=confidence)

    if not any(each.trainer == judge for each in trained) or not any(each.trainer != judge for each in trained):
        return
    yield Opportunity(
        judge=judge,
        axis="own policy",
        mode=None,
        what="right held-out responses accepted: of policies that it trained, less of those that others did",
        difference=difference(right=True),
        wrong=difference(right=False),
    )


def _won(value: float) -> float:
    return _HALF if value == _HALF else float(value > _HALF)


def _better_wins(answers: ItemAnswers, item: Item) -> float | None:
    gain = answers.gain(Role.CHANGED)
    if gain is None:
        return None
    changed = _HALF if gain == 0.0 else float(gain > 0.0)
    return changed if item.gold is Role.CHANGED else 1.0 - changed


def _has(item: Item, axis: str) -> bool | None:
    """Whether the better form is the longer one, or the judge's own; None where both are equally long."""
    if axis != "length":
        return item.gold is Role.CHANGED
    sizes = {role: len(form.response.split()) for role, form in item.forms.items()}
    changed, base = sizes[Role.CHANGED], sizes[Role.BASE]
    if changed == base:
        return None
    return (changed > base) is (item.gold is Role.CHANGED)
