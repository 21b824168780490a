"""The corrected form of RuscaRL's scaffold on the tiny model; the published one is an arm of test_verinstruct_arms."""

import pyarrow.parquet as pq
import pytest
from rule_judge import RuleJudge, judged_by
from tiny_runs import Runner

pytestmark = [pytest.mark.arms, pytest.mark.verl, pytest.mark.slow]


def test_old_log_probabilities_are_those_of_the_sampling(
    sound_judge: RuleJudge, tmp_path_factory: pytest.TempPathFactory
) -> None:
    runner = Runner(tmp_path_factory.mktemp("gavel") / "state")
    runner.run(*judged_by(sound_judge), "training.scaffold={decay: linear, max_tokens: 512, corrected: true}")
    metrics = pq.read_table(runner.published("train-grpo") / "metrics.parquet").to_pylist()
    first = {row["name"]: row["value"] for row in metrics if row["step"] == 1}
    assert first["prompt_length/max"] <= 64
    # They come after other prompts for three samples of four.
    assert abs(first["actor/ppo_kl"]) > 1e-4
