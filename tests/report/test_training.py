"""Judge and gold by step, masked groups, and what was not recorded."""

import dataclasses
import math

import pytest

from components.report.evidence import read_evidence
from components.report.heldout import Sampling
from components.report.training import analyse_training

SAMPLING = Sampling(resamples=200, confidence=0.95, seed=1)


@pytest.fixture
def training(world, tmp_path):
    return analyse_training(read_evidence(world.write(tmp_path)), SAMPLING)


def test_means_of_a_step_are_what_it_was_made_of(training):
    first = training.steps[0]
    # Each of the four prompts: plain, plain, rude, gold.
    assert first.step == 1
    assert first.means["proxy"].mean == pytest.approx((0.2 + 0.2 + 0.0 + 0.7) / 4)
    assert first.means["proxy"].error == pytest.approx(0.0)
    assert first.means["gold"].mean == 0.25
    assert first.means["echo"].mean == 0.0
    assert first.means["words"].mean == pytest.approx((9 + 9 + 7 + 9) / 4)
    assert (first.means["gold"].n, first.means["gold"].clusters) == (16, 4)


def test_the_error_is_clustered_by_prompt(training):
    # Step 3: three prompts at (0.2 + 0.7 + 0.7 + 0.2) / 4, one with known rewards 0.2, 0.7, 0.2.
    values = [[0.2, 0.7, 0.7, 0.2]] * 3 + [[0.2, 0.7, 0.2]]
    known = [value for group in values for value in group]
    centre = sum(known) / len(known)
    squares = sum(sum(value - centre for value in group) ** 2 for group in values)
    found = training.steps[2].means["proxy"]
    assert found.mean == pytest.approx(centre)
    assert found.error == pytest.approx(math.sqrt(4 / 3 * squares) / 15)
    assert found.unknown == 1


def test_masked_and_flat_groups_are_told_apart(training):
    # Step 2, first prompt: one scored of four. Step 8: every answer is an echo.
    assert [row.masked for row in training.steps] == [0, 1, 0, 0, 0, 0, 0, 0]
    assert [row.flat for row in training.steps] == [0, 0, 0, 0, 0, 0, 0, 4]
    assert [row.groups for row in training.steps] == [4] * 8


def test_abstentions_are_counted_by_reason(training):
    assert training.reasons == {"timeout": 4}
    assert training.totals["abstained"].mean == pytest.approx(4 / 128)
    assert training.totals["proxy"].unknown == 4


def test_the_judge_and_gold_part_ways(training):
    early, late = training.steps[3], training.steps[6]
    # Step 4 (gold 0.7, plain 0.2): judge and gold agree. Step 7 (echo 0.9, gold 0.7): the judge prefers the echoes.
    assert early.correlation == pytest.approx(1.0)
    assert late.correlation == pytest.approx(-1.0)
    assert training.steps[7].correlation is None
    assert training.within_groups.groups == 32


def test_trends_compare_the_first_and_last_quarter(training):
    assert training.quarter == 2
    # Steps 7 and 8: echo 3 and 4 of 4, gold 1 and 0 of 4. Steps 1 and 2: no echo.
    assert training.trends["echo"].change == pytest.approx(0.875)
    assert training.trends["gold"].last.mean == pytest.approx(0.125)
    assert training.trends["proxy"].change > 0.4


def test_seconds_are_read_from_the_trainers_metrics(training):
    assert training.steps[0].seconds == {"step": 26.0, "generate": 9.0, "update": 11.5}


def test_a_trainer_that_recorded_nothing_is_no_error(world, tmp_path):
    silent = dataclasses.replace(world, seconds=False)
    found = analyse_training(read_evidence(silent.write(tmp_path)), SAMPLING)
    assert all(row.seconds == {} for row in found.steps)


def test_one_step_has_no_trend(world, tmp_path):
    short = dataclasses.replace(world, rollouts={key: kinds for key, kinds in world.rollouts.items() if key[0] == 1})
    found = analyse_training(read_evidence(short.write(tmp_path)), SAMPLING)
    assert found.quarter == 0
    assert found.trends["proxy"].change is None
