"""How large a judge is, and how long and how much it may therefore take.

The rule for a start, unless ``deployment.start_minutes`` says otherwise: weights are read into the GPUs at 0.2 GiB/s (a
shared network volume read by one pod; local disks are ten times faster), and ten minutes come on top for imports, CUDA
and vLLM's compilation and graph capture. Before that, weights that no volume holds are fetched at 0.05 GiB/s. KServe's
own start-up probe gives every model ten minutes (kserve#5062), which is too short from about 30 GiB on.
"""

import math
from typing import TYPE_CHECKING, Final

from components.core.spec.deployment import CPU_RUNTIME

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

GIB: Final = 2**30
READ_GIB_PER_SECOND: Final = 0.2
FETCH_GIB_PER_SECOND: Final = 0.05
FIXED_SECONDS: Final = 600.0
"""Imports, CUDA, compilation and graph capture."""
UNKNOWN_SECONDS: Final = 3600.0
"""For a judge whose size nobody tells."""
IMAGE_SECONDS: Final = 900.0
"""For an image of 10 GiB and more that the node does not have yet."""
_BYTES: Final = {"auto": 2, "bfloat16": 2, "float16": 2, "float32": 4}


def weight_gib(spec: "JudgeSpec") -> float | None:
    """Size of the weights in GiB: as stated, or parameters times the bytes of one; None when neither is known."""
    if spec.deployment.weight_gib is not None:
        return spec.deployment.weight_gib
    if spec.parameters is None:
        return None
    # The CPU server computes in float32.
    size = 4 if spec.deployment.runtime == CPU_RUNTIME else _BYTES[spec.deployment.dtype]
    return spec.parameters * size / GIB


def load_seconds(spec: "JudgeSpec") -> float:
    """From the server's start to its first answer: the budget of the start-up probe."""
    if spec.deployment.start_minutes is not None:
        return spec.deployment.start_minutes * 60
    weight = weight_gib(spec)
    return UNKNOWN_SECONDS if weight is None else FIXED_SECONDS + weight / READ_GIB_PER_SECOND


def start_seconds(spec: "JudgeSpec") -> float:
    """From the moment that a node is there to the first answer: image, fetching and loading."""
    if spec.deployment.start_minutes is not None:
        return IMAGE_SECONDS + spec.deployment.start_minutes * 60
    weight = weight_gib(spec)
    fetch = UNKNOWN_SECONDS if weight is None else weight / FETCH_GIB_PER_SECOND
    return IMAGE_SECONDS + fetch + load_seconds(spec)


def memory_gib(spec: "JudgeSpec", shared: float) -> int:
    """Main memory of one copy: as stated, or room for the weights on their way and for the server, in whole GiB.

    Args:
        spec: the judge.
        shared: GiB of shared memory, which count as the pod's.
    """
    if spec.deployment.memory_gib is not None:
        return math.ceil(spec.deployment.memory_gib)
    weight = weight_gib(spec) or 16.0
    if spec.deployment.runtime == CPU_RUNTIME:
        # Twice while it is loaded, and caches of prefixes.
        return math.ceil(2 + 2 * weight)
    return math.ceil(8 + weight + shared)


def size_label(parameters: int | None) -> str:
    """A short size for people: 140k, 135M, 8.19B, 117B; "unknown"."""
    if parameters is None:
        return "unknown"
    for unit, name in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if parameters >= unit:
            value = parameters / unit
            return f"{value:.0f}{name}" if value >= 99.95 else f"{value:.3g}{name}"
    return str(parameters)
