"""Whether models fit into the memory of a GPU. Activations, logits and texts depend on shapes that are not known here,
and are not counted: what is refused surely does not fit, and what is not refused may still be tight."""

import dataclasses
from typing import TYPE_CHECKING, Final, Literal

from components.core.spec.judge import JudgeSpec
from components.judge.kserve.sizing import weight_gib

if TYPE_CHECKING:
    from components.core.spec import Experiment

GIB: Final = 2**30
ROLLOUT_SHARE: Final = 0.5
"""Of a GPU's memory, for vLLM's weights and texts beside the trainer: verl 0.9.1's own rollout.gpu_memory_utilization,
which no experiment overrides."""
WEIGHT: Final = 4
"""Bytes of a trained weight, and of one of the reference: FSDP keeps them in float32 (fsdp_config.model_dtype)."""
MOMENTS: Final = 8
"""Bytes of AdamW's two moments."""
GRADIENT: Final = 4
"""Bytes of a gradient (reduce_dtype)."""
_BYTES: Final = {"float32": 4, "bfloat16": 2}


@dataclasses.dataclass(frozen=True, slots=True)
class Need:
    """Memory of one GPU for one purpose.

    Attributes:
        what: for whom and when.
        parts: GiB by name.
        room: GiB that there are; None where the config does not say.
        left: what the rest is for.
        key: what to change when it does not fit.
        remedy: how.
    """

    what: str
    parts: dict[str, float]
    room: float | None
    left: str
    key: str
    remedy: str

    @property
    def total(self) -> float:
        """GiB of all parts."""
        return sum(self.parts.values())

    @property
    def fits(self) -> Literal["yes", "no", "unknown"]:
        """Whether something is left."""
        return "unknown" if self.room is None else "yes" if self.total < self.room else "no"


def policy_needs(experiment: "Experiment", gpu_gib: float | None) -> list[Need]:
    """Memory of one GPU that trains: in the rollout, in the update, and generating afterwards.

    Args:
        experiment: trains on GPUs.
        gpu_gib: memory of one; None when not known.
    """
    policy, training, cluster = experiment.policy, experiment.training, experiment.cluster
    shard = policy.parameters / cluster.gpus / GIB
    trained = 0 if training.lora is not None else 1
    # LoRA's reference is the same weights without the adapters.
    reference = WEIGHT * shard if training.kl_coefficient > 0 and trained else 0.0
    held = {"weights": WEIGHT * shard, "AdamW": MOMENTS * shard * trained, "reference": reference}
    copy = _BYTES[policy.dtype] * policy.parameters / cluster.tensor_parallel / GIB
    more = "take more GPUs (cluster.gpus), a smaller policy, or training.lora"
    rollout = None if gpu_gib is None else ROLLOUT_SHARE * gpu_gib
    generation = None if gpu_gib is None else cluster.gpu_memory_share * gpu_gib
    wider = "raise cluster.tensor_parallel, or take a smaller policy"
    needs = [
        Need(
            "trainer beside vLLM in the rollout",
            {**held, "vLLM": rollout or 0.0},
            gpu_gib,
            "CUDA and buffers",
            "cluster.gpus",
            more,
        ),
        Need(
            "trainer in the update",
            {**held, "gradients": GRADIENT * shard * trained},
            gpu_gib,
            "activations and logits (training.micro_batch x tokens x vocabulary)",
            "cluster.gpus",
            more,
        ),
        Need("vLLM's copy in the rollout", {"weights": copy}, rollout, "texts", "cluster.tensor_parallel", wider),
        Need("vLLM's copy in generation", {"weights": copy}, generation, "texts", "cluster.tensor_parallel", wider),
    ]
    return needs if gpu_gib is not None else [need for need in needs if "vLLM" not in need.parts]


def judge_need(judge: JudgeSpec, gpu_gib: float | None) -> Need | None:
    """Memory of one of a judge's GPUs; None for one without GPUs, or of unknown size."""
    deployment = judge.deployment
    weights = weight_gib(judge)
    if not deployment.needs_gpu or weights is None:
        return None
    room = None if gpu_gib is None else deployment.gpu_memory_share * gpu_gib
    return Need(
        f"judge {judge.name}",
        {"weights": weights / deployment.tensor_parallel},
        room,
        "texts",
        "judge.deployment.tensor_parallel",
        "raise deployment.tensor_parallel, or take a smaller judge",
    )
