"""A scripted judge that answers items without a server."""

import dataclasses
from collections.abc import Iterable, Iterator

from components.bias.scripted.judge import ScriptedJudge
from components.bias.types import Form, Item, Measure, Mode, Outcome, Role
from components.judge.verdict import UnknownReason


def outcomes(
    judge: ScriptedJudge, items: Iterable[Item], mode: Mode, *, repeats: int = 0, name: str = "scripted"
) -> list[Outcome]:
    """What the judge makes of the items: every form, pairwise every form but the base in both orders.

    Args:
        judge: the judge.
        items: of any probes.
        mode: how it is asked.
        repeats: askings after the first.
        name: the judge's.
    """
    return [
        found
        for item in items
        for role in item.forms
        if mode is not Mode.PAIRWISE or role is not Role.BASE
        for repeat in range(repeats + 1)
        for found in _ask(judge, item, role, mode, repeat, name)
    ]


def expected(judge: ScriptedJudge, items: Iterable[Item], measure: Measure, mode: Mode) -> float:
    """The effect that was planted, for these items: without noise, and without cutting scores to [0, 1]."""
    effects = [_planted(judge, item, measure, mode) for item in items]
    return sum(effects) / len(effects)


def _planted(judge: ScriptedJudge, item: Item, measure: Measure, mode: Mode) -> float:
    changed, beside = item.forms[Role.CHANGED], item.forms.get(Role.PLACEBO, item.forms[Role.BASE])
    if measure is Measure.FIRST_SLOT:
        return judge.planted.get("position", 0.0)
    if measure is Measure.DISAGREEMENT:
        return judge.planted.get("retry", 0.0)
    if measure is Measure.FAILURE:
        return judge.failure_rate(changed) - judge.failure_rate(beside)
    if measure is Measure.ACCEPTANCE:
        return judge.score(changed)
    shift = judge.score(changed) - judge.score(beside)
    if mode is Mode.PAIRWISE:
        # What acts on both of a pair, such as a reference that neither is held against, cancels.
        shift -= judge.score(_rival(item, changed)) - judge.score(_rival(item, beside))
    return shift


def _rival(item: Item, form: Form) -> Form:
    """The base as it stands beside a form: all but the response is shown once, and is the form's."""
    return dataclasses.replace(form, response=item.forms[Role.BASE].response)


def _ask(judge: ScriptedJudge, item: Item, role: Role, mode: Mode, repeat: int, name: str) -> Iterator[Outcome]:
    form = item.forms[role]
    if mode is not Mode.PAIRWISE:
        yield _outcome(item, role, mode, repeat, name, _value(judge, form, mode, repeat))
        return
    base = _rival(item, form)
    for order, first, second in (("base_first", base, form), ("base_second", form, base)):
        chosen = judge.first_wins(first, second, repeat)
        value = None if chosen is None else float(chosen == (order == "base_second"))
        yield _outcome(item, role, mode, repeat, name, value, order)


def _value(judge: ScriptedJudge, form: Form, mode: Mode, repeat: int) -> float | None:
    if mode is Mode.POINTWISE:
        place = judge.place(form, repeat)
        return None if place is None else place / (len(form.scale) - 1)
    met = judge.met(form, repeat)
    return None if met is None else sum(met) / len(met)


def _outcome(
    item: Item, role: Role, mode: Mode, repeat: int, name: str, value: float | None, order: str | None = None
) -> Outcome:
    return Outcome(
        judge=name,
        probe=item.probe,
        mode=mode,
        item_id=item.item_id,
        text_id=item.text_id,
        role=role,
        order=order,
        repeat=repeat,
        value=value,
        reason=None if value is not None else UnknownReason.UNPARSEABLE.value,
        probability=None,
        words=len(item.forms[role].response.split()),
        author=item.author,
        gold=item.gold,
    )
