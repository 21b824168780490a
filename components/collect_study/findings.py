"""What the arms of a study say together: predictions, comparisons, leakage, remedies."""

import itertools
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from components.bias import clusters
from components.bias.drift.features import PREDICTED, title
from components.bias.estimate import Estimate
from components.bias.findings import prediction
from components.bias.findings.groups import group_effect, mitigation, preference_leakage
from components.bias.result_arms import Arm
from components.bias.result_findings import Contrast, Findings, Leakage, Mitigation, Point, Prediction
from components.bias.result_judges import Bias, Judge
from components.bias.types import Mode

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

Wins = Mapping[tuple[str, str], Sequence[float]]

_PREFERRED: Final = (Mode.BINARY, Mode.POINTWISE, Mode.PAIRWISE)
"""Of which mode a judge's bias is taken: training asks by a rubric, so that this comes first."""
_METHOD: Final = "mixed model with random intercepts of judge and seed; permutation of the biases over judges"
_WHOLE: Final = "only a mean over judges is told; its interval would rest on too few of them"


def findings(study: "Study", judges: Sequence[Judge], arms: Sequence[Arm], wins: Wins, confidence: float) -> Findings:
    """All conclusions that the study's arms allow; what they do not allow stands there with the reason.

    Args:
        study: for its seeds.
        judges: with their biases.
        arms: with their changes.
        wins: (judge, judge that trained) -> share won by the trained policy against the one before, prompt by prompt.
        confidence: coverage of the intervals.
    """
    done = [arm for arm in arms if arm.state == "done"]
    trained = [arm for arm in done if not arm.control and arm.judge is not None]
    seed = study.spec.seeds[0]
    return Findings(
        predictions=tuple(
            _prediction(axis, feature, judges, trained, seed, confidence)
            for axis, feature in PREDICTED.items()
            if axis in {bias.probe for judge in judges for bias in judge.biases}
        ),
        contrasts=tuple(_families(judges, trained, seed)),
        leakage=tuple(_leakage(judges, wins)),
        mitigations=tuple(_masking(done)),
    )


def _bias(judge: Judge, axis: str) -> Bias | None:
    mine = {bias.mode: bias for bias in judge.biases if bias.probe == axis and bias.effect.value is not None}
    return next((mine[mode] for mode in _PREFERRED if mode in mine), None)


def _change(arm: Arm, feature: str) -> Estimate | None:
    found = next((change.change for change in arm.changes if change.feature == feature), None)
    return found if found is not None and found.value is not None else None


def _prediction(
    axis: str, feature: str, judges: Sequence[Judge], arms: Sequence[Arm], seed: int, confidence: float
) -> Prediction:
    by_name = {judge.name: judge for judge in judges}
    points, rows = [], []
    for arm in arms:
        judge = by_name.get(arm.judge or "")
        bias, drift = None if judge is None else _bias(judge, axis), _change(arm, feature)
        if judge is None or bias is None or drift is None:
            continue
        points.append(Point(arm=arm.name, judge=judge.name, seed=arm.seed, bias=bias.effect, drift=drift))
        assert bias.effect.value is not None
        assert drift.value is not None
        rows.append(prediction.Arm(judge.name, arm.seed, bias.effect.value, drift.value))
    fit = prediction.predict(rows, seed=seed, confidence=confidence)
    why = fit.reason or "no interval could be drawn"
    slope = (
        Estimate.missing(why)
        if fit.slope is None
        else Estimate.of(fit.slope, fit.low, fit.high, n=fit.arms, clusters=fit.judges, why=why)
    )
    return Prediction(
        axis=axis,
        title=title(feature),
        feature=feature,
        slope=slope,
        p=fit.permutation_p,
        judges=fit.judges,
        method=_METHOD,
        points=tuple(points),
        note=fit.reason,
    )


def _families(judges: Sequence[Judge], arms: Sequence[Arm], seed: int) -> list[Contrast]:
    """Drift in length by the family of the judge, over the judges of each."""
    families = {judge.name: judge.family for judge in judges}
    drifts: dict[str, list[float]] = defaultdict(list)
    for arm in arms:
        change = _change(arm, "words")
        if change is not None and change.value is not None and arm.judge in families:
            drifts[arm.judge].append(change.value)
    values = {judge: statistics.fmean(found) for judge, found in drifts.items()}
    if len({families[judge] for judge in values}) < 2:
        return []
    effect = group_effect(values, families, seed=seed)
    return [
        Contrast(
            kind="family",
            what=f"policies of judges of {one} against those of {other}",
            measure="words",
            difference=Estimate.of(
                effect.means[one] - effect.means[other], n=effect.judges[one] + effect.judges[other], why=_WHOLE
            ),
            p=effect.p,
        )
        for one, other in itertools.combinations(sorted(effect.means), 2)
    ]


def _leakage(judges: Sequence[Judge], wins: Wins) -> list[Leakage]:
    families = {judge.name: judge.family for judge in judges}
    students = sorted({judge for judge, student in wins if judge == student})
    found = []
    for one, other in itertools.combinations(students, 2):
        score = preference_leakage(wins, one, other)
        n = sum(len(wins.get((judge, student), ())) for judge in (one, other) for student in (one, other))
        alike = families.get(one) == families.get(other)
        found.append(
            Leakage(
                judges=(one, other),
                relation=f"each trained by its judge; judges of {'one family' if alike else 'two families'}",
                score=Estimate.missing("a win rate is missing, or a student never wins", unknown=n)
                if score is None
                else Estimate.of(score, n=n, why="no interval is drawn of a ratio of shares this small"),
            )
        )
    return found


def _masking(arms: Sequence[Arm]) -> list[Mitigation]:
    """What masking failures, in the place of counting them as 0, takes off the drift in length."""
    pairs: dict[str, dict[str, dict[tuple[str, int], float]]] = defaultdict(lambda: {"zero": {}, "masked": {}})
    for arm in arms:
        change = _change(arm, "words")
        if change is None or change.value is None or arm.judge is None or arm.control not in ("", "zero_as_control"):
            continue
        kind = "zero" if arm.control else "masked"
        pairs[arm.judge][kind][f"{arm.reward} {arm.policy}", arm.seed] = change.value
    found = []
    for judge, both in pairs.items():
        shared = sorted(set(both["zero"]) & set(both["masked"]))
        if not shared:
            continue
        means = [statistics.fmean(both[kind][key] for key in shared) for kind in ("zero", "masked")]
        plain, masked = (Estimate.of(mean, n=len(shared), why=_WHOLE) for mean in means)
        reduction = _of(mitigation(both["zero"], both["masked"]))
        found.append(
            Mitigation(name="masking", axis="failure", judge=judge, plain=plain, mitigated=masked, reduction=reduction)
        )
    return found


def _of(found: clusters.Estimate) -> Estimate:
    return Estimate.of(
        found.value, found.low, found.high, n=found.items, clusters=found.texts, why="fewer than two groups of arms"
    )
