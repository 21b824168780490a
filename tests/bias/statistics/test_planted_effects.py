"""What is planted in a judge is what the statistics find, as often as their intervals say."""

import numpy as np
import pytest
from planted_items import MEASURES, items, modes

from components.bias.effects import Effect, measure_effects
from components.bias.multiplicity import adjusted
from components.bias.scripted.axes import AXES
from components.bias.scripted.inprocess import expected, outcomes
from components.bias.scripted.judge import ScriptedJudge
from components.bias.types import Measure, Mode

LOW, HIGH = 0.920, 0.976
"""Of 1,000 repetitions of an interval that covers 95 %, all but one in some 10,000 series lie between these."""
STRENGTHS = {"position": (0.1, 0.25), "retry": (0.1, 0.3), "failure": (0.15, 0.4), "master_keys": (0.15, 0.4)}
USUAL = (0.1, 0.25)


def _measure(axis: str) -> Measure:
    return MEASURES.get(axis, Measure.SHIFT)


def _run(axis: str, strength: float, mode: Mode, seed: int) -> tuple[Effect, float]:
    judge = ScriptedJudge({axis: strength}, seed=seed)
    shown = items(axis)
    answers = outcomes(judge, shown, mode, repeats=2 if axis == "retry" else 0)
    (effect,) = measure_effects(answers, {axis: _measure(axis)})
    return effect, expected(judge, shown, _measure(axis), mode)


def _covered(axis: str, strength: float, mode: Mode, repetitions: int) -> float:
    hits = 0
    for seed in range(repetitions):
        effect, truth = _run(axis, strength, mode, seed)
        assert effect.bias.low is not None
        assert effect.bias.high is not None
        hits += effect.bias.low <= truth <= effect.bias.high
    return hits / repetitions


@pytest.mark.parametrize("axis", sorted(AXES))
def test_each_axis_is_found_with_what_was_planted(axis: str) -> None:
    mode = modes(axis)[-1]
    found = [_run(axis, 0.3, mode, seed) for seed in range(12)]
    mean = float(np.mean([effect.bias.value for effect, _ in found]))
    error = float(np.std([effect.bias.value for effect, _ in found], ddof=1)) / 12**0.5
    # 4.4 standard errors of a t with 11 degrees of freedom are passed once in a thousand.
    assert abs(mean - found[0][1]) < 4.5 * error + 1e-9
    assert found[0][1] > 0.03


@pytest.mark.parametrize(("axis", "mode"), [("authority", Mode.PAIRWISE), ("verbosity", Mode.POINTWISE)])
def test_a_hundred_repetitions_cover_about_as_often_as_they_say(axis: str, mode: Mode) -> None:
    # Binomial, 100 draws at 0.95: fewer than 87 in one of a thousand series.
    assert _covered(axis, 0.2, mode, 100) >= 0.87


@pytest.mark.coverage
@pytest.mark.parametrize(
    ("axis", "strength", "mode"),
    [
        (axis, strength, mode)
        for axis in sorted(AXES)
        for strength in STRENGTHS.get(axis, USUAL)
        for mode in modes(axis)
    ],
)
def test_a_thousand_repetitions_cover_as_often_as_they_say(axis: str, strength: float, mode: Mode) -> None:
    assert LOW <= _covered(axis, strength, mode, 1000) <= HIGH


def _flagged(seed: int, axes: tuple[str, ...]) -> bool:
    judge = ScriptedJudge(dict.fromkeys(axes, 0.0), seed=seed)
    answers = [found for axis in axes for found in outcomes(judge, items(axis, each=1), modes(axis)[0])]
    effects = measure_effects(answers, {axis: _measure(axis) for axis in axes})
    return any(each.flagged for each in adjusted(effects))


@pytest.mark.coverage
def test_an_unbiased_judge_is_flagged_no_more_often_than_stated() -> None:
    axes = ("authority", "bandwagon", "sentiment", "style", "position", "fallacy")
    flagged = sum(_flagged(seed, axes) for seed in range(1000))
    # Binomial, 1,000 draws at 0.05: more than 72 in one of a thousand series.
    assert flagged <= 72
