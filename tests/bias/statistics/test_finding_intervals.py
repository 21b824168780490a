"""How often the intervals of findings over judges and arms hold the truth."""

from collections.abc import Iterator

import numpy as np
import pytest
from covering import HIGH, HUNDRED, LOW, covered, ends
from planted_agreement import Wins
from planted_findings import Drifts, Lengths, Opening, TwoEffects, TwoRates

from components.bias.clusters import Estimate
from components.bias.estimate import Estimate as Told
from components.bias.findings.groups import leakage_estimate
from components.bias.findings.parting import Parting, parting
from components.bias.findings.prediction import predict
from components.bias.findings.remedies import compared
from components.bias.lengthcontrol import LengthControlled, length_controlled
from components.bias.opportunity import apart, paired

CELLS = (("i", "i"), ("j", "i"), ("j", "j"), ("i", "j"))
WINS = {
    f"{prompts} x {runs}, {lines}": Wins(prompts, runs, lines)
    for prompts, runs in ((24, 1), (24, 3), (48, 1), (100, 3))
    for lines in ((0.0, 0.0, 0.0, 0.0), (0.6, -0.2, 0.3, 0.1), (1.5, 0.8, -0.8, -1.4))
}
RATES = {
    f"{texts} x {each}, {lines}, spread {spread}, {'the same' if shared else 'other'} texts": TwoRates(
        texts, each, lines, shared, spread
    )
    for texts, each in ((24, (2, 4)), (48, (1, 1)), (100, (3, 6)))
    for lines, spread in (((0.5, 0.2), 0.7), ((0.5, 0.2), 1.5), ((1.8, 1.2), 1.0))
    for shared in (True, False)
}
PAIRED = {
    f"{texts} x {each}, {lines}": TwoRates(texts, (each, each), lines, True)
    for texts, each in ((48, 1), (48, 5))
    for lines in ((0.5, 0.5), (1.0, 0.3), (2.2, 1.9))
}
EFFECTS = {
    f"{texts} x {each}, {plain} and {remedied}": TwoEffects(texts, each, plain, remedied)
    for texts, each in ((48, 1), (48, 5))
    for plain, remedied in ((0.3, 0.1), (-0.2, 0.1), (0.2, 0.0), (-0.1, 0.02))
} | {
    f"{seeds} seeds, {plain} and {remedied}": TwoEffects(seeds, 1, plain, remedied)
    for seeds in (3, 5)
    for plain, remedied in ((0.3, 0.1), (-0.2, 0.1), (0.2, 0.0))
}
UNBIASED = {f"{texts} x {each}": TwoEffects(texts, each, 0.0, 0.0) for texts, each in ((48, 1), (48, 5), (5, 1))}
LENGTHS = {
    f"{texts} x {each}, {intercept} and {slope} at {mean}": Lengths(texts, each, intercept, slope, mean)
    for texts, each in ((48, 1), (48, 5))
    for intercept, slope, mean in ((0.0, 1.5, 0.8), (0.6, 0.0, 0.5), (0.3, 1.0, -0.3))
}
DRIFTS = {
    f"{judges} judges, {seeds} seeds, spread {sd}": Drifts(judges, seeds, sd)
    for judges, seeds, sd in ((3, 1, 0.1), (3, 3, 0.0), (4, 3, 0.05), (8, 3, 0.0), (8, 3, 0.2))
} | {f"{judges} judges, arms missing": Drifts(judges, 3, 0.1, missing=0.2) for judges in (4, 6, 8)}
OPENINGS = {
    f"{prompts} prompts, {step} of {steps[-1]}, {last}": Opening(prompts, steps, step, last)
    for prompts in (24, 100)
    for steps, step in (((0, 15, 30, 45, 60), 15), ((0, 50, 100, 150, 200, 250, 300), 150))
    for last in (0.15, 0.3)
}


def _leakages(cell: Wins, repetitions: int) -> Iterator[Told]:
    for seed in range(repetitions):
        won = cell.drawn(np.random.default_rng(seed))
        rows = {pair: [(f"p{p}", s) for (p, _), s in np.ndenumerate(won[:, :, at])] for at, pair in enumerate(CELLS)}
        yield leakage_estimate(rows, "i", "j")


def _apart(cell: TwoRates, repetitions: int) -> Iterator[Told]:
    for seed in range(repetitions):
        one, other = cell.drawn(np.random.default_rng(seed))
        # Texts that are not shared have other names.
        rows = [
            [(float(value), f"{name}{text}") for (text, _), value in np.ndenumerate(each)]
            for name, each in (("p", one), ("p" if cell.shared else "q", other))
        ]
        yield apart(*rows)


def _paired(cell: TwoRates, repetitions: int) -> Iterator[Told]:
    for seed in range(repetitions):
        one, other = cell.drawn(np.random.default_rng(seed))
        yield paired([(v, other[at], f"t{at[0]}") for at, v in np.ndenumerate(one)])


def _smaller(cell: TwoEffects, repetitions: int) -> Iterator[Estimate]:
    for seed in range(repetitions):
        rows = cell.drawn(np.random.default_rng(seed))
        pairs = [(float(a), float(b), f"t{t}") for t, items in enumerate(rows) for a, b in items]
        yield compared(pairs, (-2.0, 2.0)).smaller


def _lengths(cell: Lengths, repetitions: int) -> Iterator[LengthControlled]:
    for seed in range(repetitions):
        won, longer = cell.drawn(np.random.default_rng(seed))
        texts = [f"t{t}" for (t, _), _ in np.ndenumerate(won)]
        yield length_controlled(won.ravel().tolist(), longer.ravel().tolist(), texts)


def _slopes(cell: Drifts, repetitions: int) -> Iterator[tuple[float | None, float | None]]:
    for seed in range(repetitions):
        found = predict(cell.drawn(np.random.default_rng(seed)))
        yield found.low, found.high


def _partings(cell: Opening, repetitions: int) -> list[Parting]:
    return [parting(*cell.drawn(np.random.default_rng(seed))) for seed in range(repetitions)]


def test_a_hundred_leakages_are_covered_about_as_often_as_intervals_say() -> None:
    cell = WINS["24 x 1, (0.6, -0.2, 0.3, 0.1)"]
    assert covered(map(ends, _leakages(cell, 100)), cell.leakage()) >= HUNDRED


def test_a_hundred_differences_over_the_same_prompts_are_covered_and_not_too_wide() -> None:
    cell = TwoRates(48, (3, 6), (0.5, 0.2), True, 1.5)
    found = list(_apart(cell, 100))
    assert covered(map(ends, found), cell.difference()) >= HUNDRED
    # Over other prompts the same shares leave more in doubt.
    other = list(_apart(TwoRates(48, (3, 6), (0.5, 0.2), False, 1.5), 100))
    widths = [np.mean([each.high - each.low for each in rows if each.high is not None]) for rows in (found, other)]
    assert widths[0] < 0.8 * widths[1]


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(WINS))
def test_a_thousand_leakages_are_covered(name: str) -> None:
    assert LOW <= covered(map(ends, _leakages(WINS[name], 1000)), WINS[name].leakage()) <= HIGH


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(RATES))
def test_a_thousand_differences_of_rates_are_covered(name: str) -> None:
    assert LOW <= covered(map(ends, _apart(RATES[name], 1000)), RATES[name].difference()) <= HIGH


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(PAIRED))
def test_a_thousand_paired_differences_are_covered(name: str) -> None:
    assert LOW <= covered(map(ends, _paired(PAIRED[name], 1000)), PAIRED[name].difference()) <= HIGH


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(EFFECTS))
def test_a_thousand_reductions_are_covered(name: str) -> None:
    truth = abs(EFFECTS[name].plain) - abs(EFFECTS[name].remedied)
    share = covered(((each.low, each.high) for each in _smaller(EFFECTS[name], 1000)), truth)
    # A hull of two signs covers more often than it says (docs/bias-statistics.md): 97.8 % was the most that was seen,
    # and 1,000 draws of it give more than 99.0 % in some one of 700 series.
    assert LOW <= share <= 0.990


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(UNBIASED))
def test_a_remedy_of_nothing_is_seldom_shown_to_help(name: str) -> None:
    found = list(_smaller(UNBIASED[name], 1000))
    assert covered(((each.low, each.high) for each in found), 0.0) >= LOW
    # Half of the 5 % that intervals may miss; by binomial more than 42 of 1,000 are one in a thousand series.
    assert sum(each.low is not None and each.low > 0.0 for each in found) <= 42


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_a_thousand_rates_at_equal_length_are_covered(name: str) -> None:
    cell, found = LENGTHS[name], list(_lengths(LENGTHS[name], 1000))
    smaller = abs(cell.raw() - 0.5) - abs(cell.controlled() - 0.5)
    shares = {
        "raw": covered(((each.raw_low, each.raw_high) for each in found), cell.raw()),
        "controlled": covered(((each.low, each.high) for each in found), cell.controlled()),
    }
    assert LOW <= shares["raw"] <= HIGH, shares
    # The jackknife's error of a fit is too large rather than too small (Efron and Stein 1981).
    assert LOW <= shares["controlled"] <= 0.985, shares
    # A hull where a side is open.
    assert covered(((each.smaller_low, each.smaller_high) for each in found), smaller) >= LOW


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(DRIFTS))
def test_a_thousand_slopes_are_covered(name: str) -> None:
    assert LOW <= covered(_slopes(DRIFTS[name], 1000), DRIFTS[name].slope) <= HIGH


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(OPENINGS))
def test_a_thousand_partings_are_covered(name: str) -> None:
    # Of those that are seen. The step is one of few, so that more may hold it than are asked for.
    found = [each for each in _partings(OPENINGS[name], 1000) if each.step is not None]
    assert len(found) > 100
    assert covered(((each.low, each.high) for each in found), OPENINGS[name].step) >= LOW
