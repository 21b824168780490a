"""What the arms of a study say together: predictions, comparisons, leakage, remedies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from components.bias.drift.features import PREDICTED, title
from components.bias.estimate import Estimate
from components.bias.findings import prediction
from components.bias.result_arms import Arm
from components.bias.result_findings import Absent, Findings, Point, Prediction
from components.bias.result_judges import Judge
from components.collect_study.arms import Win
from components.collect_study.contrasts import NO_LEAKAGE, bias_of, change_of, group_contrasts, leakages
from components.collect_study.heldout import Held
from components.collect_study.opportunities import opportunities
from components.collect_study.probed import Probed
from components.collect_study.remedies import remedies

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

Wins = Mapping[tuple[str, str], Sequence[Win]]

_METHOD: Final = "mixed model with random intercepts of judge and seed; permutation of the biases over judges"


def findings(
    study: "Study",
    probed: Sequence[Probed],
    judges: Sequence[Judge],
    arms: Sequence[Arm],
    wins: Wins,
    held: Mapping[str, Sequence[Held]],
    confidence: float,
) -> Findings:
    """All conclusions that the study's arms allow; what they do not allow stands there with the reason.

    Args:
        study: for its seeds.
        probed: judges and what they said.
        judges: the same with their biases, in the same order.
        arms: with their changes.
        wins: (judge, judge that trained) -> how the trained policy fares against the one before, prompt by prompt.
        held: judge -> held-out responses with gold under it.
        confidence: coverage of the intervals.
    """
    done = [arm for arm in arms if arm.state == "done"]
    trained = [arm for arm in done if not arm.control and arm.judge is not None]
    seed = study.spec.seeds[0]
    contrasts, alike = group_contrasts(probed, judges, trained, seed, confidence)
    mitigations, unremedied = remedies(probed, arms, wins, confidence)
    chances, unequal = opportunities(probed, held, confidence)
    leakage = leakages(probed, wins, confidence)
    unleaked = [] if leakage else [Absent(what="preference leakage", reason=NO_LEAKAGE)]
    return Findings(
        predictions=tuple(
            _prediction(axis, feature, judges, trained, seed, confidence)
            for axis, feature in PREDICTED.items()
            if axis in {bias.probe for judge in judges for bias in judge.biases}
        ),
        contrasts=tuple(contrasts),
        leakage=tuple(leakage),
        mitigations=tuple(mitigations),
        opportunities=tuple(chances),
        absent=(*unremedied, *alike, *unleaked, *unequal),
    )


def _left_out(axis: str, arms: Sequence[Arm], judges: Mapping[str, Judge]) -> str:
    """Judges that trained, and whose bias is not known well enough to predict anything by it; empty where all are."""
    trained = dict.fromkeys(arm.judge for arm in arms if arm.judge in judges)
    names = [name for name in trained if name is not None and bias_of(judges[name], axis) is None]
    return f"left out, whose bias is not known with an interval: {', '.join(names)}" if names else ""


def _too_few(fit: prediction.Prediction, level: float) -> str:
    """Where no p of so few judges could be small; empty otherwise."""
    if not fit.orders or 1.0 / fit.orders <= level:
        return ""
    return f"{fit.judges} judges allow no p below {1.0 / fit.orders:.3f}"


def _prediction(
    axis: str, feature: str, judges: Sequence[Judge], arms: Sequence[Arm], seed: int, confidence: float
) -> Prediction:
    by_name = {judge.name: judge for judge in judges}
    points, rows, unknown = [], [], 0
    for arm in arms:
        judge = by_name.get(arm.judge or "")
        bias, drift = None if judge is None else bias_of(judge, axis), change_of(arm, feature)
        if judge is None or bias is None or drift is None:
            unknown += 1
            continue
        points.append(Point(arm=arm.name, judge=judge.name, seed=arm.seed, bias=bias.effect, drift=drift))
        assert bias.effect.value is not None
        assert drift.value is not None
        rows.append(prediction.Arm(judge.name, arm.seed, bias.effect.value, drift.value))
    fit = prediction.predict(rows, seed=seed, confidence=confidence)
    why = fit.reason or "the judges lie on one line: no spread to draw an interval from"
    slope = (
        Estimate.of(None, n=fit.arms, clusters=fit.judges, unknown=unknown, why=why)
        if fit.slope is None
        else Estimate.of(fit.slope, fit.low, fit.high, n=fit.arms, clusters=fit.judges, unknown=unknown, why=why)
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
        note="; ".join(filter(None, (fit.reason, _too_few(fit, 1.0 - confidence), _left_out(axis, arms, by_name)))),
    )
