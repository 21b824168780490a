"""Judges of a study held against each other: families, sizes within a family, and kinship with the policies."""

import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final, NamedTuple

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


class Values(NamedTuple):
    """What is known of a probe, or of a feature of drift, model by model.

    Attributes:
        known: model -> its value; a model under several protocols counts once, by their mean.
        unknown: models that were asked, or trained, and of which there is no such value.
    """

    known: Mapping[str, float]
    unknown: Set[str]


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
    members of panels take no part. A model of which nothing is known that could be compared counts as unknown.

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
        # A judge of which nothing came was to be asked, too.
        asked = [(one, judge) for one, judge in alone if axis in {part.probe.name for part in one.plan.parts}]
        biases = [(one.model, bias_of(judge, axis)) for one, judge in asked]
        yield axis, _values([(model, None if bias is None else bias.effect.value) for model, bias in biases])
    by_name = {one.name: one.model for one, _ in alone}
    changes = [(by_name[arm.judge], change_of(arm, _LENGTH)) for arm in trained if arm.judge in by_name]
    drifts = _values([(model, None if change is None else change.value) for model, change in changes])
    if drifts.known:
        yield _LENGTH, drifts


def _values(rows: Sequence[tuple[str, float | None]]) -> Values:
    """From each judge's, or arm's, model and value, None where it is unknown."""
    known: dict[str, list[float]] = defaultdict(list)
    for model, value in rows:
        if value is not None:
            known[model].append(value)
    means = {model: statistics.fmean(values) for model, values in known.items()}
    return Values(means, {model for model, _ in rows} - set(means))


def _families(
    measure: str, values: Values, models: Mapping[str, tuple[str, float | None]], seed: int, confidence: float
) -> Iterator[Contrast]:
    families = {model: models[model][0] for model in (*values.known, *values.unknown)}
    p = group_effect(values.known, families, seed=seed).p if values.known else None
    for one, other in itertools.combinations(sorted(set(families.values())), 2):
        groups = [[value for model, value in values.known.items() if families[model] == name] for name in (one, other)]
        unknown = sum(families[model] in (one, other) for model in values.unknown)
        yield Contrast(
            kind="family",
            what=f"judges of {one} less those of {other}",
            measure=measure,
            difference=welch(*groups, unknown=unknown, confidence=confidence),
            judges=sum(map(len, groups)),
            p=p if all(groups) else None,
        )


def _sizes(
    family: str, measured: Mapping[str, Values], models: Mapping[str, tuple[str, float | None]], confidence: float
) -> Iterator[Contrast]:
    """By probe; one row alone, which says so, where too few sizes are known."""
    mine = {model: size for model, (own, size) in models.items() if own == family}
    sizes = {model: size for model, size in mine.items() if size is not None}
    what = f"judges of {family}, for each doubling of the parameters"
    if len(sizes) < LEAST_JUDGES:
        unsized = len(mine) - len(sizes)
        nothing = per_doubling([(size, 0.0) for size in sizes.values()], unknown=unsized, confidence=confidence)
        yield Contrast(kind="size", what=what, measure="all measures", difference=nothing, judges=len(sizes))
        return
    for measure, values in measured.items():
        points = [(size, values.known[model]) for model, size in sizes.items() if model in values.known]
        unknown = sum(model in values.known or model in values.unknown for model in mine) - len(points)
        slope = per_doubling(points, unknown=unknown, confidence=confidence)
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
