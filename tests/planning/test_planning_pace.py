"""Hours, by hand, and that more work never takes less time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.spec import Experiment, load_experiment
from components.planning.assumptions import Assumptions
from components.planning.pace import Hours, hours_of
from components.planning.tokens import work_of

# The measured run itself: 568M weights on one GPU, 16 x 8 responses of 512 tokens (and a prompt of one token).
MEASURED = [
    "policy={use: qwen2.5-7b, chat_template: null, parameters: 568000000}",
    "judge=qwen3-32b",
    "cluster={use: h800, gpus: 1, tensor_parallel: 1}",
    "training={prompts_per_step: 16, rollouts_per_prompt: 8, mini_batch_prompts: 16, micro_batch: 8}",
    "training={max_prompt_tokens: 1, max_response_tokens: 512, kl_coefficient: 0.001, checkpoint_every: 1}",
]


def _experiment(*overrides: str) -> Experiment:
    flat = []
    for override in MEASURED:
        if override.startswith("training="):
            pairs = override.removeprefix("training={").removesuffix("}").split(", ")
            flat += [f"training.{key}={value}" for key, value in (pair.split(": ") for pair in pairs)]
        else:
            flat.append(override)
    return load_experiment("tiny", [*flat, *overrides])


_BASE = _experiment()


def _hours(experiment: Experiment) -> Hours:
    kubernetes = experiment.cluster.kubernetes
    assert kubernetes is not None
    pool = kubernetes.pool(None)
    work = [work_of(experiment, judge, Assumptions()) for judge in experiment.judges()]
    found = hours_of(experiment, work, pool)
    assert found is not None
    return found


def test_the_measured_run_takes_what_was_measured() -> None:
    found = _hours(_experiment())
    # One prompt token beside 512: 0.2 % more in what is padded.
    assert found.step["rollout"] == pytest.approx(4.5)
    assert found.step["update"] == pytest.approx(9.8 * 513 / 512)
    assert sum(found.step.values()) == pytest.approx(29.2 - 7.8, rel=0.002)
    # Three steps, each with a checkpoint, and four minutes to the first one.
    assert found.training == pytest.approx(240 + 3 * 29.2, rel=0.001)


def test_gpus_share_the_work_and_checkpoints_are_whole() -> None:
    one, four = _hours(_experiment()), _hours(_experiment("cluster.gpus=4"))
    for part in ("rollout", "update", "reference", "old log-probabilities"):
        assert four.step[part] == pytest.approx(one.step[part] / 4)
    late = _hours(_experiment("training.checkpoint_every=2"))
    assert one.training - late.training == pytest.approx(7.8)


def test_what_is_not_done_takes_no_time() -> None:
    assert _hours(_experiment("training.kl_coefficient=0.0")).step["reference"] == 0


def test_speeds_that_were_measured_replace_ours() -> None:
    """2 operations a weight and token forward, 8 in the update; 128 x 513 tokens, 568M weights, 100 TFLOP/s."""
    pool = "cluster.kubernetes.pools.h800"
    found = _hours(_experiment(f"{pool}.training_tflops=100", f"{pool}.rollout_tokens_per_second=1000"))
    assert found.step["update"] == pytest.approx(8 * 568e6 * 128 * 513 / 100e12)
    assert found.step["reference"] == pytest.approx(2 * 568e6 * 128 * 513 / 100e12)
    assert found.step["rollout"] == pytest.approx(128 * 512 / 1000)


def test_nothing_undercuts_the_peak() -> None:
    found = _hours(_experiment())
    assert found.best == pytest.approx(12 * 568e6 * 128 * 513 / 989.4e12)
    assert found.best < sum(found.step.values())


def test_judging_is_unknown_until_a_speed_is_known() -> None:
    found = _hours(_experiment())
    assert (found.judging, found.complete) == (None, False)
    known = _experiment("judge.deployment.tokens_per_second=1000")
    tokens = work_of(known, known.judge, Assumptions()).training.tokens
    assert tokens is not None
    assert _hours(known).judging == pytest.approx(tokens / 1000)
    assert _hours(known).complete


def test_rates_of_a_key_slow_judging_down() -> None:
    rate = "judge.limits={requests_per_minute: 60, share: 0.5}"
    experiment = _experiment(rate)
    calls = work_of(experiment, experiment.judge, Assumptions()).training.calls
    assert calls is not None
    # 60 a minute and half of it: one call every two seconds.
    assert _hours(experiment).judging == pytest.approx(2 * calls)


def test_a_run_without_gpus_has_no_estimate() -> None:
    assert hours_of(load_experiment("tiny"), [], None) is None


@given(steps=st.integers(1, 300), further=st.integers(1, 300), weights=st.integers(10**6, 10**10))
def test_more_steps_never_take_less(steps: int, further: int, weights: int) -> None:
    base = _BASE
    policy = base.policy.model_copy(update={"parameters": weights})

    def seconds(number: int) -> float:
        training = base.training.model_copy(update={"steps": number})
        return _hours(base.model_copy(update={"training": training, "policy": policy})).known

    assert seconds(steps + further) > seconds(steps)
