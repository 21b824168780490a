"""What the server inside the pod is told, and how the kubelet asks whether it lives."""

import math
from typing import TYPE_CHECKING, Any, Final

from components.core.spec.deployment import CPU_RUNTIME
from components.judge.kserve.sizing import load_seconds
from components.judge.kserve.source import MOUNT

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

VLLM_RUNTIME: Final = "gavel-vllm"
OURS: Final = (VLLM_RUNTIME, CPU_RUNTIME)
"""Runtimes of our manifests: they have their volumes, and /health on the port."""
PORT: Final = 8080
_PERIOD: Final = 10


def arguments(spec: "JudgeSpec", storage: str | None) -> list[str]:
    """Arguments behind those of the runtime, which KServe puts first; where one is given twice the later one counts.

    Args:
        spec: the judge.
        storage: its storageUri, None where the server makes the weights itself.
    """
    deployment = spec.deployment
    if deployment.runtime == CPU_RUNTIME:
        weights = f"--model={MOUNT}" if storage or spec.source is None else f"--source={spec.source.model_dump_json()}"
        return [
            weights,
            f"--name={spec.model_name}",
            "--host=0.0.0.0",
            f"--port={PORT}",
            f"--context={spec.context_tokens}",
            f"--threads={max(1, math.floor(deployment.cpus))}",
        ]
    # KServe's own runtimes know where the weights are, call the name so, and hand the rest on to vLLM.
    named = [f"--model_name={spec.model_name}"]
    if deployment.runtime == VLLM_RUNTIME:
        named = [f"--model={MOUNT}", f"--served-model-name={spec.model_name}"]
    return [
        *named,
        f"--tensor-parallel-size={deployment.tensor_parallel}",
        f"--dtype={deployment.dtype}",
        f"--max-model-len={spec.context_tokens}",
        f"--gpu-memory-utilization={deployment.gpu_memory_share:g}",
        *deployment.arguments,
    ]


def probes(spec: "JudgeSpec") -> dict[str, Any]:
    """Start-up, readiness and liveness of the server.

    The start-up probe holds the two others back until the model is loaded. Liveness is slow to judge: a vLLM that is
    busy answers late, and a restart costs the whole load.
    """
    ours = spec.deployment.runtime in OURS
    # Of other runtimes we know no route; they open their port when the model is loaded.
    ask: dict[str, Any] = (
        {"httpGet": {"path": "/health", "port": PORT, "scheme": "HTTP"}} if ours else {"tcpSocket": {"port": PORT}}
    )
    return {
        "startupProbe": {
            **ask,
            "periodSeconds": _PERIOD,
            "timeoutSeconds": 5,
            "failureThreshold": math.ceil(load_seconds(spec) / _PERIOD),
        },
        "readinessProbe": {**ask, "periodSeconds": _PERIOD, "timeoutSeconds": 5, "failureThreshold": 3},
        "livenessProbe": {**ask, "periodSeconds": 30, "timeoutSeconds": 10, "failureThreshold": 10},
    }
