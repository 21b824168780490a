"""How often the intervals of agreement with gold and of repetitions hold the truth, which has a closed form."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from covering import HIGH, HUNDRED, LOW, covered, ends
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_agreement import Judged, Pairs, Repeats

from components.bias.decisions import Decided, Decision, decided
from components.bias.estimate import Estimate
from components.bias.gold import agreement
from components.bias.jackknife import jackknifed
from components.bias.noise import Noise, noise
from components.bias.types import Mode, Outcome, Role

FIVE, ONE_HALF = (-1.5, -0.5, 0.0, 0.5, 1.5), (0.0,)
JUDGED = {
    "good and worse answers, near chance": Judged(48, 1, None, FIVE, 0.6),
    "good and worse answers, a fair judge": Judged(48, 1, None, ONE_HALF, 1.6, 0.2),
    "good and worse answers, a good judge": Judged(48, 1, None, (), 3.2),
    "six of each of 40 texts, near chance": Judged(40, 6, None, FIVE, 0.6),
    "six of each of 40 texts, a fair judge": Judged(40, 6, None, ONE_HALF, 1.6, 0.2),
    "six of each of 40 texts, a good judge": Judged(40, 6, None, (), 3.2),
    "24 prompts, near chance": Judged(24, 4, 0.0, ONE_HALF, 0.6),
    "24 prompts, little is right": Judged(24, 4, -1.0, FIVE, 1.5),
    "24 prompts, a good judge": Judged(24, 4, 0.3, (), 2.8),
    "48 prompts, near chance": Judged(48, 4, 0.0, ONE_HALF, 0.6),
    "48 prompts, little is right": Judged(48, 4, -1.2, FIVE, 1.5),
    "48 prompts, a good judge": Judged(48, 4, 0.3, (), 3.4),
    "100 prompts, near chance": Judged(100, 8, 0.0, ONE_HALF, 0.6),
    "100 prompts, little is right": Judged(100, 8, -1.2, FIVE, 1.5),
    "100 prompts, a good judge": Judged(100, 8, 0.3, (), 3.4),
}
PAIRS = {
    f"{texts} x {each}, threshold {threshold}": Pairs(texts, each, threshold, place)
    for texts, each in ((48, 1), (48, 5))
    for threshold, place in ((0.3, 0.5), (1.0, 0.3), (1.8, 0.0))
}
REPEATS = {
    f"{texts} x {each}, beta {shape}": Repeats(texts, each, repeats, shape, levels)
    for texts, each, repeats in ((48, 1, 3), (48, 5, 3), (48, 5, 2))
    for shape, levels in (((1.0, 1.0), 4), ((0.3, 0.3), 1), ((0.25, 1.0), 3))
} | {"48 x 5, few contradict": Repeats(48, 5, 3, (0.05, 0.05), 1)}


def _decided(judge: Judged, repetitions: int) -> Iterator[Decided]:
    for seed in range(repetitions):
        values, right, texts = judge.drawn(np.random.default_rng(seed))
        yield decided([Decision(*row) for row in zip(texts, right.tolist(), values.tolist(), strict=True)])


def _pairs(judge: Pairs, repetitions: int) -> Iterator[Estimate]:
    for seed in range(repetitions):
        # The value is the changed form's, which is the worse one.
        values = 1.0 - judge.drawn(np.random.default_rng(seed))
        yield agreement([_choice(t, i, o, value) for (t, i, o), value in np.ndenumerate(values)]).kappa


def _choice(text: int, item: int, order: int, value: float) -> Outcome:
    name, place, gold = f"{text}.{item}", ("base_first", "base_second")[order], Role.BASE
    return Outcome("j", "p", Mode.PAIRWISE, name, f"t{text}", Role.CHANGED, place, 0, value, None, None, 9, None, gold)


def _repeated(judge: Repeats, repetitions: int) -> Iterator[Noise]:
    for seed in range(repetitions):
        rows = [
            Outcome("j", "p", Mode.BINARY, f"{t}.{i}", f"t{t}", Role.BASE, None, repeat, value, None, None, 9)
            for (t, i, repeat), value in np.ndenumerate(judge.drawn(np.random.default_rng(seed)))
        ]
        yield noise(rows)


def _truths(judge: Judged) -> Mapping[str, float]:
    _, true, false = judge.rates()
    named = {"accepts_right": true, "accepts_wrong": false}
    return {"kappa": judge.kappa(), "accuracy": judge.accuracy(), "ranking": judge.area(), **named}


def test_the_closed_forms_are_those_of_many_draws() -> None:
    draw = np.random.default_rng(0)
    for judge in (JUDGED["24 prompts, little is right"], JUDGED["six of each of 40 texts, a good judge"]):
        many = dataclasses.replace(judge, texts=60_000, each=1)
        values, right, _ = many.drawn(draw)
        accepted = values > 0.5
        # Three standard errors of a share of 10,000 are at most 0.015.
        assert np.mean(accepted == right) == pytest.approx(judge.accuracy(), abs=0.015)
        pairs = draw.integers(0, (right.sum(), (~right).sum()), (200_000, 2))
        good, bad = values[right][pairs[:, 0]], values[~right][pairs[:, 1]]
        assert np.mean((good > bad) + (good == bad) / 2) == pytest.approx(judge.area(), abs=0.02)
    many_pairs = Pairs(60_000, 1, 1.0, 0.3, tied=0.0)
    assert 2 * many_pairs.drawn(draw).mean() - 1 == pytest.approx(many_pairs.kappa(), abs=0.01)
    askings = Repeats(60_000, 1, 2, (0.25, 1.0), 3).drawn(draw).reshape(-1, 2)
    assert np.corrcoef(askings.T)[0, 1] == pytest.approx(REPEATS["48 x 1, beta (0.25, 1.0)"].alpha(), abs=0.02)


@pytest.mark.parametrize("name", ["24 prompts, little is right", "good and worse answers, a good judge"])
def test_a_hundred_judges_are_covered_about_as_often_as_intervals_say(name: str) -> None:
    found = list(_decided(JUDGED[name], 100))
    for statistic, truth in _truths(JUDGED[name]).items():
        assert covered((ends(getattr(each, statistic)) for each in found), truth) >= HUNDRED, statistic


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(JUDGED))
def test_a_thousand_judges_are_covered_as_often_as_intervals_say(name: str) -> None:
    found = list(_decided(JUDGED[name], 1000))
    shares = {
        statistic: covered((ends(getattr(each, statistic)) for each in found), truth)
        for statistic, truth in _truths(JUDGED[name]).items()
    }
    assert all(LOW <= each <= HIGH for each in shares.values()), shares


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_thousand_judges_of_pairs_have_their_kappa_covered(name: str) -> None:
    assert LOW <= covered(map(ends, _pairs(PAIRS[name], 1000)), PAIRS[name].kappa()) <= HIGH


@pytest.mark.coverage
@pytest.mark.parametrize("name", sorted(REPEATS))
def test_a_thousand_noise_floors_are_covered(name: str) -> None:
    judge, found = REPEATS[name], list(_repeated(REPEATS[name], 1000))
    shares = {"alpha": covered(((each.alpha_low, each.alpha_high) for each in found), judge.alpha())}
    if judge.levels == 1:
        shares["flips"] = covered(((each.flips.low, each.flips.high) for each in found), judge.flips())
        shares["apart"] = covered(((each.apart.low, each.apart.high) for each in found), judge.flips())
    assert all(LOW <= each <= HIGH for each in shares.values()), shares


def test_a_perfect_judge_and_one_text_have_a_kappa_and_no_interval() -> None:
    perfect = decided([Decision(f"t{n}", n % 2 == 0, float(n % 2 == 0)) for n in range(40)])
    for found in (perfect.kappa, perfect.ranking):
        assert (found.value, found.low) == (1.0, None)
        assert "too little varies" in found.why
    assert perfect.accuracy.low is not None
    alone = decided([Decision("t", n % 2 == 0, float(n % 3 == 0)) for n in range(40)])
    for found in (alone.kappa, alone.ranking):
        assert found.low is None
        assert "one text or prompt" in found.why


def test_where_one_text_holds_all_that_is_wrong_there_is_no_interval() -> None:
    rows = [Decision("a", False, 0.0), *(Decision(f"t{n}", True, n / 9) for n in range(10))]
    found = decided(rows)
    assert found.ranking.value == pytest.approx(0.95)
    for each in (found.ranking, found.kappa):
        assert each.low is None
        assert "there would be no such number" in each.why


def test_a_judge_that_always_accepts_has_a_kappa_of_zero_without_an_interval() -> None:
    found = decided([Decision(f"t{n}", n % 2 == 0, 1.0) for n in range(20)])
    assert (found.kappa.value, found.kappa.low) == (0.0, None)
    assert (found.ranking.value, found.ranking.low) == (0.5, None)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=40), st.floats(0.5, 0.99))
def test_the_interval_of_a_mean_left_out_one_by_one_holds_it_and_turns_with_it(
    values: list[float], confidence: float
) -> None:
    rows = np.array(values)
    without = (rows.sum() - rows) / (len(rows) - 1)
    found = jackknifed(float(rows.mean()), without, (0.0, 1.0), confidence=confidence)
    turned = jackknifed(1.0 - float(rows.mean()), 1.0 - without, (0.0, 1.0), confidence=confidence)
    if found.low is None or found.high is None:
        assert found.why
        assert np.ptp(rows) < 1e-6
        return
    assert 0.0 <= found.low <= rows.mean() <= found.high <= 1.0
    assert turned.high == pytest.approx(1.0 - found.low, abs=1e-9)
    wider = jackknifed(float(rows.mean()), without, (0.0, 1.0), confidence=(1.0 + confidence) / 2.0)
    assert wider.low is not None
    assert wider.low <= found.low


def test_the_error_of_a_mean_left_out_one_by_one_is_the_usual_one() -> None:
    rows = np.random.default_rng(1).normal(0.0, 0.02, 4000) + 0.5
    found = jackknifed(float(rows.mean()), (rows.sum() - rows) / (len(rows) - 1), (0.0, 1.0))
    half = 1.96 * float(rows.std(ddof=1)) / len(rows) ** 0.5
    assert found.low == pytest.approx(rows.mean() - half, rel=1e-3)
    assert found.high == pytest.approx(rows.mean() + half, rel=1e-3)
