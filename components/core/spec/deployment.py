"""How a judge is deployed on a cluster. None of it decides a verdict."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Count, Spec, Text
from components.core.spec.kubernetes import LONG_LABEL

CPU_RUNTIME: Final = "gavel-cpu"
"""The runtime that needs no GPU: our embedded CPU server in an InferenceService."""

_OURS: Final = frozenset(
    {
        "--model",
        "--served-model-name",
        "--revision",
        "--tensor-parallel-size",
        "-tp",
        "--dtype",
        "--max-model-len",
        "--gpu-memory-utilization",
        "--host",
        "--port",
        "--api-key",
        "--hf-token",
        "--root-path",
    }
)
"""vLLM's arguments that are made from other fields, or would carry a secret."""


class JudgeDeployment(Spec):
    """The judge's InferenceService, for serving kserve; without effect for other ways of serving."""

    runtime: Annotated[str, StringConstraints(pattern=LONG_LABEL)] = "gavel-vllm"
    """KServe ServingRuntime: gavel-vllm (vLLM on GPUs), gavel-cpu (our embedded CPU server, for small judges on a
    cluster without GPUs), or one of your own. Unit: none. Default: "gavel-vllm"."""
    pool: str | None = None
    """Node pool, one of cluster.kubernetes.pools; null takes its judge_pool. Unit: none. Default: null."""
    tensor_parallel: Count = 1
    """GPUs of one node that share one copy. Unit: GPUs. Default: 1."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Type of the weights; auto takes the model's own. Unit: none. Default: "auto"."""
    gpu_memory_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Share of each GPU's memory that vLLM takes: weights first, then room for texts. Unit: fraction. Default: 0.9."""
    weight_gib: Annotated[float, Field(gt=0)] | None = None
    """Size of the weights as stored; null takes parameters times the dtype's bytes (2 for auto). Unit: GiB.
    Default: null."""
    min_replicas: Annotated[int, Field(ge=0)] = 1
    """Fewest copies; 0 lets the service sleep when nobody asks. Unit: replicas. Default: 1."""
    max_replicas: Count = 1
    """Most copies under load. Unit: replicas. Default: 1."""
    cpus: Annotated[float, Field(gt=0)] = 8.0
    """Of each copy. Unit: CPUs. Default: 8.0."""
    memory_gib: Annotated[float, Field(gt=0)] | None = None
    """Main memory of each copy; null is sized from the weights. Unit: GiB. Default: null."""
    arguments: tuple[Text, ...] = ()
    """Further arguments of vLLM, one word each: ["--max-num-seqs", "128"]. Unit: none. Default: []."""
    tokens_per_second: Annotated[float, Field(gt=0)] | None = None
    """What one copy reads and writes under load, as you measured it, for the hours of `make plan`; null where it is not
    known. Unit: tokens. Default: null."""
    start_minutes: Annotated[float, Field(gt=0)] | None = None
    """Longest start, weights fetched and loaded; null is sized from the weights. Unit: minutes. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.min_replicas > self.max_replicas:
            yield Conflict(
                "min_replicas",
                f"{self.min_replicas} is above max_replicas {self.max_replicas}",
                "raise max_replicas, or lower min_replicas",
            )
        for argument in self.arguments:
            # vLLM takes underscores for hyphens, and the beginning of a name that fits one alone.
            name = argument.partition("=")[0].replace("_", "-")
            if name in _OURS or (len(name) > 4 and any(known.startswith(name) for known in _OURS)):
                yield Conflict("arguments", f"{name} is set from the judge's other fields", f"remove {name}")
        if self.runtime == CPU_RUNTIME:
            if self.tensor_parallel > 1:
                yield Conflict("tensor_parallel", f"{self.tensor_parallel}: {CPU_RUNTIME} has no GPU", "set it to 1")
            if self.arguments:
                yield Conflict("arguments", f"they are vLLM's, and runtime is {CPU_RUNTIME}", "remove them")

    @property
    def needs_gpu(self) -> bool:
        """Whether its pods ask for GPUs."""
        return self.runtime != CPU_RUNTIME

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.tensor_parallel if self.needs_gpu else 0
