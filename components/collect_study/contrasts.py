"""Judges of a study held against each other: families, sizes within a family, and kinship with the policies."""

import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.bias.estimate import Estimate
from components.bias.findings.between import LEAST_JUDGES, per_doubling, welch
from components.bias.findings.groups import group_effect, leakage_estimate
from components.bias.result_arms import Arm
from components.bias.result_findings import Absent, Contrast, Leakage
from components.bias.result_judges import Bias, Judge
from components.bias.types import Mode
from components.collect_study.arms import Win
from components.collect_study.probed import Probed

_PREFERRED: Final = (Mode.BINARY, Mode.POINTWISE, Mode.PAIRWISE)
"""Of which mode a judge's bias is taken: training asks by a rubric, so that this comes first."""
_LENGTH: Final = "words"
"""Feature whose drift is compared, under the name that it has among the features."""
NO_LEAKAGE: Final = (
    "it takes two judges that each trained a policy and scored both (cross: true), with known rewards before and after"
)

Values = dict[str, float]
"""Model -> its value; a model under several protocols counts once, by their mean."""


def bias_of(judge: Judge, axis: str) -> Bias | None:
    """The judge's effect on a probe, in the mode that is nearest to training; None where it has none with an interval:
    what one text says is no judge's bias."""
    mine = {bias.mode: bias for bias in judge.biases if bias.probe == axis and bias.effect.low is not None}
    return next((mine[mode] for mode in _PREFERRED if mode in mine), None)


def change_of(arm: Arm, feature: str) -> Estimate | None:
    """The arm's drift of a feature; None where it is unknown."""
    found = next((change.change for change in arm.changes if change.feature == feature), None)
    return found if found is not None and found.value is not None else None


def group_contrasts(
    probed: Sequence[Probed], judges: Sequence[Judge], trained: Sequence[Arm], seed: int, confidence: float
) -> tuple[list[Contrast], list[Absent]]:
    """Families against each other, and sizes within each, by probe and by the drift in length; controls, panels and
    members of panels take no part.

    Args:
        probed: judges and what they said.
        judges: the same with their biases, in the same order.
        trained: arms that judges trained.
        seed: of the deals.
        confidence: coverage of the intervals.
    """
    alone = [
        (one, judge)
        for one, judge in zip(probed, judges, strict=True)
        if not (one.member or one.members or judge.scripted)
    ]
    models: dict[str, tuple[str, float | None]] = {one.model: (one.family, one.parameters) for one, _ in alone}
    measured = dict(_measures(alone, trained))
    families = sorted({family for family, _ in models.values()})
    found = [
        contrast
        for measure, values in measured.items()
        for contrast in _families(measure, values, models, seed, confidence)
    ]
    for family in families:
        found += _sizes(family, measured, models, confidence)
    absent = []
    if len(families) < 2:
        told = f"all {len(models)} models are of one family" if models else "no judge is a model"
        absent.append(Absent(what="family", reason=f"{told} (controls and panels take no part)"))
    if not models:
        absent.append(Absent(what="size", reason="no judge is a model (controls and panels take no part)"))
    return found, absent


def _measures(alone: Sequence[tuple[Probed, Judge]], trained: Sequence[Arm]) -> Iterator[tuple[str, Values]]:
    """Probe, or feature of drift -> each model's value."""
    axes = dict.fromkeys(bias.probe for _, judge in alone for bias in judge.biases)
    for axis in axes:
        rows: dict[str, list[float]] = defaultdict(list)
        for one, judge in alone:
            bias = bias_of(judge, axis)
            if bias is not None and bias.effect.value is not None:
                rows[one.model].append(bias.effect.value)
        yield axis, {model: statistics.fmean(values) for model, values in rows.items()}
    drifts: dict[str, list[float]] = defaultdict(list)
    by_name = {one.name: one.model for one, _ in alone}
    for arm in trained:
        change = change_of(arm, _LENGTH)
        if change is not None and change.value is not None and arm.judge in by_name:
            drifts[by_name[arm.judge]].append(change.value)
    if drifts:
        yield _LENGTH, {model: statistics.fmean(values) for model, values in drifts.items()}


def _families(
    measure: str, values: Values, models: Mapping[str, tuple[str, float | None]], seed: int, confidence: float
) -> Iterator[Contrast]:
    families = {model: models[model][0] for model in values}
    if len(set(families.values())) < 2:
        return
    effect = group_effect(values, families, seed=seed)
    for one, other in itertools.combinations(sorted(effect.means), 2):
        groups = [[values[model] for model in values if families[model] == name] for name in (one, other)]
        n = sum(map(len, groups))
        yield Contrast(
            kind="family",
            what=f"judges of {one} less those of {other}",
            measure=measure,
            difference=welch(*groups, confidence=confidence),
            judges=n,
            p=effect.p,
        )


def _sizes(
    family: str, measured: Mapping[str, Values], models: Mapping[str, tuple[str, float | None]], confidence: float
) -> Iterator[Contrast]:
    """By probe; one row alone, which says so, where too few sizes are known."""
    sizes = {model: size for model, (own, size) in models.items() if own == family and size is not None}
    what = f"judges of {family}, for each doubling of the parameters"
    if len(sizes) < LEAST_JUDGES:
        nothing = per_doubling([(size, 0.0) for size in sizes.values()], confidence=confidence)
        yield Contrast(kind="size", what=what, measure="all measures", difference=nothing, judges=len(sizes))
        return
    for measure, values in measured.items():
        points = [(size, values[model]) for model, size in sizes.items() if model in values]
        slope = per_doubling(points, confidence=confidence)
        yield Contrast(kind="size", what=what, measure=measure, difference=slope, judges=len(points))


def leakages(
    probed: Sequence[Probed], wins: Mapping[tuple[str, str], Sequence[Win]], confidence: float
) -> list[Leakage]:
    """The preference leakage score of every two judges that trained policies."""
    by_name = {judge.name: judge for judge in probed}
    pairs = {cell: [(win.prompt, win.share) for win in found if win.share is not None] for cell, found in wins.items()}
    unknown = {cell: len(found) - len(pairs[cell]) for cell, found in wins.items()}
    students = sorted({judge for judge, student in wins if judge == student})
    return [
        Leakage(
            judges=(one, other),
            relation=f"each trained by its judge; judges of {_kinship(by_name.get(one), by_name.get(other))}",
            score=leakage_estimate(
                pairs,
                one,
                other,
                unknown=sum(unknown.get((judge, student), 0) for judge in (one, other) for student in (one, other)),
                confidence=confidence,
            ),
        )
        for one, other in itertools.combinations(students, 2)
    ]


def _kinship(one: Probed | None, other: Probed | None) -> str:
    if one is None or other is None or one.family != other.family:
        return "two families"
    return "one model" if one.model == other.model else "one family"
