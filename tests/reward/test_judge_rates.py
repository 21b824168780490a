"""The judge's failures by decile of length: counts by hand, and numpy's quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.memory.deciles import deciles
from components.judge.verdict import UnknownReason, Verdict, VerdictStatus
from components.reward.asked import Asked
from components.reward.judge_rates import Judged, rates, rates_by_decile


def verdict(reason: UnknownReason | None = None, attempts: int = 1) -> Verdict:
    status = VerdictStatus.MET if reason is None else VerdictStatus.UNKNOWN
    return Verdict(status, None, None, reason, "j", "p", attempts)


def test_a_sample_is_counted_by_reason_and_calls():
    given_ = [
        verdict(),
        verdict(attempts=2),
        verdict(UnknownReason.UNPARSEABLE, 3),
        verdict(UnknownReason.TIMEOUT),
        verdict(UnknownReason.MISSING),
    ]
    assert Judged.of(7, abstained=True, verdicts=given_, asked=Asked(2, 0)) == Judged(7, True, 5, 2, True, False)
    assert Judged.of(7, abstained=True, verdicts=given_, asked=Asked(0, 1)) == Judged(7, True, 5, 2, False, True)


def test_without_calls_on_record_a_second_attempt_is_a_repetition():
    assert Judged.of(7, abstained=False, verdicts=[verdict(attempts=2)]) == Judged(7, False, 1, 0, False, True)
    assert Judged.of(7, abstained=False, verdicts=[verdict()]) == Judged(7, False, 1, 0, False, False)


def test_a_judge_that_fails_on_long_answers_shows_in_the_last_deciles():
    # Ten samples a decile, 4 verdicts each; the longest twenty abstain, each with 3 unparsed verdicts, and every second
    # of them was asked about again.
    samples = [Judged(n, False, 4, 0, False, False) for n in range(80)]
    samples += [Judged(n, True, 4, 3, n % 2 == 0, True) for n in range(80, 100)]
    found = rates_by_decile(samples[::-1])
    for decile in range(1, 11):
        bad = decile > 8
        assert found[f"abstain_rate/length_decile_{decile:02d}"] == (1.0 if bad else 0.0)
        assert found[f"parse_failure_rate/length_decile_{decile:02d}"] == (0.75 if bad else 0.0)
        assert found[f"reask_rate/length_decile_{decile:02d}"] == (0.5 if bad else 0.0)
        assert found[f"response_tokens/length_decile_{decile:02d}"] == 10 * decile - 1
    assert rates(samples) == pytest.approx(
        {"abstain_rate": 0.2, "empty_rate": 0.0, "parse_failure_rate": 0.15, "reask_rate": 0.1, "retry_rate": 0.2}
    )


def test_nothing_has_no_rate():
    assert rates([]) == {}
    assert rates_by_decile([]) == {}
    found = rates([Judged(0, True, 0, 0, False, False)])
    assert found == {"abstain_rate": 1.0, "empty_rate": 0.0, "reask_rate": 0.0, "retry_rate": 0.0}


def test_rules_and_empty_responses_are_counted_apart_from_the_judges_failures():
    rule = Verdict(VerdictStatus.MET, 1.0, None, None, "rule", "rule/python/0", 1)
    failed = Verdict(VerdictStatus.UNKNOWN, None, None, UnknownReason.RULE_FAILED, "rule", "rule/python/0", 1)
    samples = [
        Judged.of(9, abstained=False, verdicts=[verdict(), rule, rule], asked=Asked()),
        Judged.of(9, abstained=True, verdicts=[verdict(UnknownReason.UNPARSEABLE), failed], asked=Asked()),
        Judged.of(0, abstained=True, verdicts=[verdict(UnknownReason.EMPTY_RESPONSE), failed], asked=Asked()),
        Judged.of(9, abstained=False, verdicts=[]),
    ]
    found = rates(samples)
    assert (found["abstain_rate"], found["empty_rate"]) == (0.5, 0.25)
    # Of three verdicts of the judge one could not be read; of four checks two failed.
    assert found["parse_failure_rate"] == pytest.approx(1 / 3)
    assert found["rule_failure_rate"] == 0.5
    assert found["retry_rate"] == found["reask_rate"] == 0.0


def test_few_samples_leave_deciles_empty():
    found = rates_by_decile([Judged(5, False, 1, 0, False, False), Judged(9, True, 1, 1, False, False)])
    assert {name.split("/")[1] for name in found} == {"length_decile_01", "length_decile_06"}


@given(st.lists(st.integers(0, 10_000), min_size=10, max_size=300, unique=True))
def test_distinct_lengths_fill_the_deciles_evenly(lengths: list[int]):
    places = np.array(deciles(lengths))
    counts = np.bincount(places, minlength=11)[1:]
    assert counts.max() - counts.min() <= 1
    values = np.array(lengths)
    edges = np.quantile(values, np.arange(1, 10) / 10, method="inverted_cdf")
    # A value beyond k of the nine inner quantiles lies at most one decile away from k + 1 (quantiles fall on samples).
    assert np.all(np.abs(places - 1 - (values[:, None] > edges).sum(1)) <= 1)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_longer_is_never_in_a_lower_decile_and_equal_is_in_the_same(lengths: list[int]):
    places = deciles(lengths)
    assert all(1 <= place <= 10 for place in places)
    for one, place in zip(lengths, places, strict=True):
        for other, there in zip(lengths, places, strict=True):
            assert (one < other) <= (place <= there)
            assert (one == other) <= (place == there)
