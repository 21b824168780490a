"""RuscaRL's arm on the tiny model: real verl samples after scaffolded prompts and learns on the plain ones."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rule_judge import RuleJudge, judged_by
from tiny_runs import Runner

pytestmark = [pytest.mark.arms, pytest.mark.verl, pytest.mark.slow]


def trained(runner: Runner, judge: RuleJudge, scaffold: str) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Rollouts, and the first step's metrics."""
    runner.run(*judged_by(judge), f"training.scaffold={scaffold}")
    folder = Path(runner.published("train-grpo"))
    metrics = pq.read_table(folder / "metrics.parquet").to_pylist()
    first = {row["name"]: row["value"] for row in metrics if row["step"] == 1}
    return pq.read_table(folder / "rollouts.parquet").to_pylist(), first


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("gavel") / "state")


def test_published(runner: Runner, sound_judge: RuleJudge) -> None:
    rollouts, first = trained(runner, sound_judge, "{decay: linear, max_tokens: 512}")
    assert len(rollouts) == 2 * 16
    for row in rollouts:
        parts = json.loads(row["parts"])
        # Two steps of linear decay: all at the first, nothing at the last; a group of four: 1, 2/3, 1/3, 0.
        expected = (1.0 - row["sample_index"] / 3) * (2 - row["step"])
        assert parts["scaffold_ratio"] == pytest.approx(expected, abs=1e-9)
        # round(3 x 1, 2/3, 1/3, 0) of three criteria.
        assert parts["scaffold_shown"] == ((3, 2, 1, 0)[row["sample_index"]] if row["step"] == 1 else 0)
    # The trainer's prompts are the plain ones: far shorter than any that shows the rubric.
    assert first["prompt_length/max"] <= 64
    # Old log-probabilities are the trainer's own on the plain prompt, so the first update's ratio is exactly 1.
    assert first["actor/ppo_kl"] == pytest.approx(0.0, abs=1e-6)


def test_corrected(runner: Runner, sound_judge: RuleJudge) -> None:
    _, first = trained(runner, sound_judge, "{decay: linear, max_tokens: 512, corrected: true}")
    assert first["prompt_length/max"] <= 64
    # Old log-probabilities are those of the sampling, after other prompts for three samples of four.
    assert abs(first["actor/ppo_kl"]) > 1e-4
