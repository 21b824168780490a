"""Memory of GPUs, by hand: weights 4, moments 8, gradient 4, reference 4 bytes a weight over all GPUs; vLLM 2 over its
own; half of a GPU for vLLM beside the trainer."""

from collections.abc import Callable

import pytest

from components.core.spec import Experiment
from components.core.spec.single import load_judge
from components.planning.memory import judge_need, policy_needs

GIB = 2**30


def test_policy_by_hand(on_h800: Callable[..., Experiment]) -> None:
    experiment = on_h800(f"policy.parameters={8 * GIB}", "training.kl_coefficient=0.001")
    rollout, update, copy, generation = policy_needs(experiment, 80.0)
    # 2 GiB of weights a GPU: 8 + 16 + 8 and vLLM's half of 80; with the gradient instead, 8 more.
    assert rollout.parts == {"weights": 8, "AdamW": 16, "reference": 8, "vLLM": 40}
    assert (rollout.total, rollout.room, rollout.fits) == (72, 80, "yes")
    assert update.total == 40
    # Two GPUs share a copy in bfloat16.
    assert (copy.total, copy.room) == (8, 40)
    assert (generation.total, generation.room) == (8, 72)


def test_a_policy_that_does_not_fit(on_h800: Callable[..., Experiment]) -> None:
    too_large = on_h800(f"policy.parameters={14 * GIB}")
    rollout, update, *_ = policy_needs(too_large, 80.0)
    assert (rollout.total, rollout.fits) == (82, "no")
    assert (update.total, update.fits) == (56, "yes")
    assert policy_needs(on_h800(f"policy.parameters={14 * GIB}", "training.lora={}"), 80.0)[0].fits == "yes"
    assert (
        policy_needs(on_h800(f"policy.parameters={14 * GIB}", "cluster.gpus=8", "training.micro_batch=2"), 80.0)[0].fits
        == "yes"
    )


def test_unknown_memory_is_no_verdict(on_h800: Callable[..., Experiment]) -> None:
    assert {need.fits for need in policy_needs(on_h800(), None)} == {"unknown"}


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        # Parameters x 2 bytes over the GPUs of a copy; gpt-oss as its card says.
        ("qwen3-8b", 8_190_735_360 * 2 / GIB),
        ("qwen3-32b", 32_762_123_264 * 2 / GIB / 2),
        ("llama-3-1-8b", 8_030_261_248 * 2 / GIB),
        ("llama-3-3-70b", 70_553_706_496 * 2 / GIB / 4),
        ("gpt-oss-20b", 12.8),
        ("gpt-oss-120b", 30.4),
    ],
)
def test_every_judge_of_the_catalogue_fits_a_gpu_of_80_gib(name: str, gib: float) -> None:
    need = judge_need(load_judge(name), 80.0)
    assert need is not None
    assert need.total == pytest.approx(gib)
    assert (need.room, need.fits) == (72, "yes")


def test_a_judge_too_large_for_one_gpu() -> None:
    need = judge_need(load_judge("llama-3-3-70b", ["deployment.tensor_parallel=1"]), 80.0)
    assert need is not None
    assert need.fits == "no"
