"""What a model is loaded into for generation."""

import dataclasses
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from components.core.spec import Experiment

GPU_CHUNK = 4096
"""Prompts handed to vLLM at once: enough to keep it busy, few enough to lose little when killed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Engine:
    """What a model is loaded into.

    Attributes:
        backend: ``hf`` computes on the CPU, ``vllm`` on GPUs.
        dtype: ``float32`` or ``bfloat16``. For experiments on the CPU always float32: without special instructions
            bfloat16 is several times slower there.
        context_tokens: longest prompt and response together.
        batch: prompts generated together; None leaves it to vLLM.
        threads: threads that compute, for ``hf``.
        tensor_parallel: GPUs that share one copy of the model.
        gpu_memory_share: of each GPU's memory, as a fraction.
        seed: of vLLM's engine.
        chat_template: replaces the model's own; None keeps it.
    """

    backend: Literal["hf", "vllm"]
    dtype: str
    context_tokens: int
    batch: int | None = None
    threads: int = 1
    tensor_parallel: int = 1
    gpu_memory_share: float = 0.9
    seed: int = 0
    chat_template: str | None = None

    @property
    def chunk(self) -> int:
        """Prompts after which finished work is worth keeping."""
        return (self.batch or 1) if self.backend == "hf" else GPU_CHUNK


def engine_of(experiment: "Experiment") -> Engine:
    """As the experiment evaluates its policy."""
    policy, cluster = experiment.policy, experiment.cluster
    cpu = cluster.accelerator == "cpu"
    return Engine(
        backend="hf" if cpu else "vllm",
        dtype="float32" if cpu else policy.dtype,
        context_tokens=policy.context_tokens,
        batch=experiment.evaluation.batch if cpu else None,
        threads=cluster.cpu_threads,
        tensor_parallel=cluster.tensor_parallel,
        gpu_memory_share=cluster.gpu_memory_share,
        seed=experiment.seed,
        chat_template=policy.chat_template_text,
    )
