"""A whole study whose answer is known: policies follow the planted biases of their judges, and the study says so.

One seed, some twenty minutes on two quiet cores. Lengths are counted here anew, from the stored responses.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

pytestmark = pytest.mark.planted
pytest.importorskip("verl")
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 2 * 3600
LOOKS = ["base", "step-000015", "step-000030", "step-000045", "trained"]
STEPS = [0, 15, 30, 45, 60]
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    command = [sys.executable, "-m", "pipelines", "study", "STUDY=planted", "seeds=[1]"]
    environment = {**os.environ, "GAVEL_STATE": str(folder)}
    child = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, _ = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGTERM)
        raise
    assert child.returncode == 0, output[-4000:]
    return folder


@pytest.fixture(scope="module")
def result(state: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((state / "reports" / "planted" / "study.json").read_bytes())
    return found


def arm_of(result: dict[str, Any], judge: str, control: str = "") -> dict[str, Any]:
    (arm,) = [arm for arm in result["arms"] if arm["judge"] == judge and arm["control"] == control]
    assert arm["state"] == "done"
    return dict(arm)


def lengths(state: Path, arm: str) -> dict[str, dict[str, float]]:
    """Look -> prompt -> mean words of its responses; a word is a run of letters and digits."""
    found: dict[str, dict[str, float]] = {}
    for path in (state / "store" / arm).glob("generate*/*/*/generations.parquet"):
        for row in pq.read_table(path).to_pylist():
            words = [len(_WORD.findall(unicodedata.normalize("NFKC", text))) for text in row["responses"]]
            found.setdefault(row["model"], {})[row["row_id"]] = float(np.mean(words))
    return found


def growth(state: Path, arm: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Words more after training than before, prompt by prompt."""
    looks = lengths(state, arm)
    return np.array([looks["trained"][row] - looks["base"][row] for row in sorted(looks["base"])])


def test_the_judges_that_are_biased_are_flagged_for_length_with_the_right_sign(result):
    told = {
        judge["name"]: {bias["probe"]: bias["effect"]["value"] > 0 for bias in judge["biases"] if bias["flagged"]}
        for judge in result["judges"]
    }
    # Another flag may be raised by chance, in one judge of twenty.
    assert told["scripted-longer"]["verbosity"] is True
    assert told["scripted-bit-longer"]["verbosity"] is True
    assert told["scripted-shorter"]["verbosity"] is False
    assert told["scripted-plain"] == {}


def test_the_effects_found_are_those_that_were_planted(result):
    """A length's effect on the scripts' mark is strength * (ln(1 + words after) - ln(1 + words before)) / ln 201."""
    held = [
        bias["effect"]["low"] <= bias["planted"] <= bias["effect"]["high"]
        for judge in result["judges"]
        if judge["name"] != "scripted-strained"
        for bias in judge["biases"]
    ]
    # Of eight intervals of 95 %, fewer than six hold in one study of 170.
    assert len(held) == 8
    assert sum(held) >= 6
    strengths = {"scripted-longer": 1.6, "scripted-bit-longer": 0.8, "scripted-plain": 0.0, "scripted-shorter": -0.8}
    (unit,) = {
        round(bias["planted"] / strengths[judge["name"]], 9)
        for judge in result["judges"]
        if strengths.get(judge["name"])
        for bias in judge["biases"]
        if bias["probe"] == "verbosity"
    }
    assert 0.05 < unit < 0.2


def test_policies_end_with_the_lengths_that_their_judges_pay_for(state, result):
    grown = {
        judge: growth(state, arm_of(result, judge)["name"])
        for judge in ("scripted-longer", "scripted-bit-longer", "scripted-plain", "scripted-shorter")
    }
    longer, plain, shorter = (grown[f"scripted-{kind}"] for kind in ("longer", "plain", "shorter"))
    # The same prompts in all arms.
    assert stats.ttest_rel(longer, plain, alternative="greater").pvalue < 0.001
    assert stats.ttest_rel(longer, shorter, alternative="greater").pvalue < 0.001
    assert stats.ttest_1samp(longer, 0.0, alternative="greater").pvalue < 0.001


def test_the_study_tells_the_same_changes(state, result):
    for arm in result["arms"]:
        (told,) = [change["change"]["value"] for change in arm["changes"] if change["feature"] == "words"]
        assert told == pytest.approx(growth(state, arm["name"]).mean())


def test_bias_on_length_predicts_drift_in_length(state, result):
    (found,) = [each for each in result["findings"]["predictions"] if each["axis"] == "verbosity"]
    assert found["feature"] == "words"
    # The judge that cannot read long responses has no bias on length that could be told.
    assert {point["judge"] for point in found["points"]} == {
        "scripted-longer",
        "scripted-bit-longer",
        "scripted-plain",
        "scripted-shorter",
    }
    assert "scripted-strained" in found["note"]
    assert found["slope"]["value"] > 0
    biases = [point["bias"]["value"] for point in found["points"]]
    drifts = [growth(state, point["arm"]).mean() for point in found["points"]]
    # With one arm a judge the slope is that of least squares; all orders of the four biases are dealt out here.
    slopes = [np.polyfit(order, drifts, 1)[0] for order in itertools.permutations(biases)]
    assert found["slope"]["value"] == pytest.approx(slopes[0])
    assert found["p"] == pytest.approx(np.mean(np.abs(slopes) >= abs(slopes[0]) - 1e-9))


def test_the_gap_between_proxy_and_gold_opens_when_the_policy_grows_longer(state, result):
    """Gold is 0 throughout, so that the gap is the proxy. It opens after the last look before lengths differ from those
    before training, by a t-test over prompts here."""
    arm = arm_of(result, "scripted-longer")
    looks = lengths(state, arm["name"])
    rows = sorted(looks["base"])
    before = np.array([looks["base"][row] for row in rows])
    values = [np.array([looks[look][row] for row in rows]) - before for look in LOOKS[1:]]
    grown = [stats.ttest_1samp(value, 0.0, alternative="greater").pvalue < 0.01 for value in values]
    first = STEPS[1 + grown.index(True)]
    assert arm["parting"]["parted"]
    assert arm["parting"]["low"] < first
    assert arm["parting"]["step"] < 60
    assert not arm_of(result, "scripted-plain")["parting"]["parted"]


def test_masking_takes_away_the_drift_that_failures_as_zero_make(state, result):
    zero = growth(state, arm_of(result, "scripted-strained", "zero_as_control")["name"])
    masked = growth(state, arm_of(result, "scripted-strained")["name"])
    assert stats.ttest_1samp(zero, 0.0, alternative="less").pvalue < 0.001
    assert stats.ttest_rel(zero, masked, alternative="less").pvalue < 0.001
    drifts = [each for each in result["findings"]["mitigations"] if each["name"] == "masking"]
    (found,) = [each for each in drifts if each["axis"] == "words"]
    assert found["judge"] == "scripted-strained"
    assert found["reduction"]["value"] == pytest.approx(abs(zero.mean()) - abs(masked.mean()))
    assert found["reduction"]["value"] > 0
