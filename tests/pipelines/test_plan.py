"""The command plan."""

import pytest

from components.core.spec import load_experiment
from components.rayjob.build import DEADLINE_SLACK
from pipelines.__main__ import main
from pipelines.needs import NEEDS


def _plan(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["plan", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_plan_of_the_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _plan(capsys, "verinstruct_rl", "verinstruct_ruscarl", "--criteria", "5")
    assert (code, err) == (0, "")
    # 350 x 64 x 8; and 256 x 8 x 2 held-out responses; one call each, 5 % of them twice: 188,160 + 4,300.8.
    assert "350 steps x 64 prompts x 8 rollouts = 179,200 responses" in out
    assert "192,461 expected (training 188,160, held-out 4,301)" in out
    # All of five criteria, two halves, five single ones (none was alone), each three times.
    assert f"at most {(179_200 + 4_096) * 8 * 3:,}" in out
    assert "1 x 4 GPUs, 32 CPUs, 256 GiB, and a head with 4 CPUs, 16 GiB" in out
    assert out.count("generation   2 GPUs, 32 CPUs, 256 GiB from queue gavel") == 2
    # Two trainings of four GPUs and one judge of two.
    assert "pool h800    10 of 16 GPUs" in out
    assert "queue        gavel has to grant 10 GPUs (quota: 16)" in out
    assert out.count("judge qwen3-32b (kserve") == 1
    assert "judging      unknown in training" in out
    assert "h without judging" in out
    assert "cost unknown" in out
    assert "568M weights" in out


def test_one_gpu_is_one_and_a_model_by_a_branch_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    loose = "policy.source={kind: hub, repo: a/b, revision: main}"
    cluster = ["cluster.gpus=1", "cluster.tensor_parallel=1", "training.prompts_per_step=1", loose]
    _, out, err = _plan(capsys, "verinstruct_rl", *cluster, "training.mini_batch_prompts=1")
    assert "1 x 1 GPU, 32 CPUs" in out
    assert "generation   1 GPU, " in out
    assert "1 GPUs" not in out + err
    assert "note         policy qwen2.5-7b is not pinned: a/b at 'main'" in out
    assert "were the GPUs H100s at their peak" in out
    assert "not pinned" not in _plan(capsys, "verinstruct_rl")[1]


def test_what_is_known_of_a_local_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _plan(capsys, "quickstart")
    assert code == 0
    assert "352 expected (training 160, held-out 192)" in out
    assert "time         unknown" in out
    assert "pool" not in out


def test_a_price_makes_a_cost(capsys: pytest.CaptureFixture[str]) -> None:
    speeds = ["training_tflops=400", "rollout_tokens_per_second=4000", "gpu_hour_cost=2.5"]
    overrides = [f"cluster.kubernetes.pools.h800.{speed}" for speed in speeds]
    judge = "judge.deployment.tokens_per_second=10000"
    code, out, _ = _plan(capsys, "verinstruct_rl", *overrides, judge)
    assert code == 0
    assert "unknown in training" not in out
    assert "h without judging" not in out
    assert "cost unknown" not in out


@pytest.mark.parametrize("start", ["rl", "rl_verif", "ruscarl", "ruscarl_verif"])
@pytest.mark.parametrize("policy", ["", "_qwen3"])
def test_the_studys_arms_end_within_their_deadline(capsys: pytest.CaptureFixture[str], start: str, policy: str) -> None:
    """By the plan's own hours and with a slow judge; and the pod of the step outlasts the training's deadline."""
    name = f"verinstruct_{start}{policy}"
    slow = "judge.deployment.tokens_per_second=2000"
    code, out, _ = _plan(capsys, name, slow, "--criteria", "5")
    assert code == 0
    assert "unknown in training" not in out
    assert "training.deadline_minutes ends the step" not in out
    _, out, _ = _plan(capsys, name, slow, "training.deadline_minutes=28800", "--criteria", "5")
    assert "training.deadline_minutes ends the step" in out
    assert load_experiment(name).training.deadline_minutes * 60 + DEADLINE_SLACK < NEEDS["train-grpo"].hours * 3600


def test_a_refusal_prints_the_plan_and_then_why(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _plan(capsys, "verinstruct_rl", "cluster.kubernetes.queue_gpus=4")
    assert code == 1
    assert "queue        gavel has to grant 6 GPUs (quota: 4)" in out
    assert err.startswith("error: cluster.kubernetes.queue_gpus: 6 GPUs are asked for at once")
    assert "remedy" in err


def test_overrides_change_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _plan(capsys, "tiny", "training.steps=5", "quickstart", "data.heldout_rows=1")
    assert code == 0
    assert out.count("5 steps x 4 prompts x 4 rollouts = 80 responses") == 2
    assert out.count("1 rows x 1 samples x 2 models") == 2


def test_an_unknown_experiment_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _plan(capsys, "quickstrat")
    assert (code, out) == (1, "")
    assert "did you mean quickstart" in err


@pytest.mark.parametrize("option", [["--fill", "1.5"], ["--again", "-0.1"], ["--criteria", "0"], ["--fill", "x"]])
def test_assumptions_out_of_range(capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "tiny", *option])
    assert ended.value.code == 2


@pytest.mark.parametrize("option", ["--fill", "--criteria"])
def test_an_assumption_that_is_no_number(capsys: pytest.CaptureFixture[str], option: str) -> None:
    with pytest.raises(SystemExit):
        main(["plan", "tiny", option, "some"])
    assert f"argument {option}: 'some' is no number" in capsys.readouterr().err
