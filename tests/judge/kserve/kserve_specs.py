"""Judges and clusters for tests of InferenceServices."""

from typing import Any

from components.core.spec.cluster import ClusterSpec, StoreSpec
from components.core.spec.judge import JudgeSpec

H800: dict[str, Any] = {
    "selector": {"gavel.dev/pool": "h800"},
    "tolerations": ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},),
    "nodes": 2,
    "gpus": 8,
    "cpus": 112.0,
    "memory_gib": 1800.0,
}


def judge(**changes: Any) -> JudgeSpec:
    """Qwen3-32B on two GPUs, unless said otherwise."""
    values: dict[str, Any] = {
        "name": "qwen3-32b",
        "family": "Qwen3",
        "parameters": 32_762_123_264,
        "source": {"kind": "hub", "repo": "Qwen/Qwen3-32B", "revision": "9216db57"},
        "serving": "kserve",
        "deployment": {"tensor_parallel": 2},
        "model_name": "qwen3-32b",
        "context_tokens": 32768,
        "logprobs": True,
    }
    return JudgeSpec(**{**values, **changes})


def tiny(**changes: Any) -> JudgeSpec:
    """The wiring model behind our CPU server."""
    values: dict[str, Any] = {
        "name": "tiny-lr",
        "family": "tiny",
        "parameters": 139_840,
        "source": {"kind": "tiny", "seed": 1},
        "deployment": {"runtime": "gavel-cpu", "cpus": 1.0},
        "model_name": "tiny",
        "context_tokens": 2048,
        "timeout_seconds": 5.0,
        "attempts": 2,
    }
    return judge(**{**values, **changes})


def cluster(namespace: str = "gavel", **kubernetes: Any) -> ClusterSpec:
    """Two nodes of eight GPUs."""
    values: dict[str, Any] = {
        "namespace": namespace,
        "pools": {"h800": H800, "cpu": {"nodes": 1, "cpus": 8.0, "memory_gib": 32.0}},
        "training_pool": "h800",
        "judge_pool": "h800",
        **kubernetes,
    }
    return ClusterSpec(
        name="c",
        placement="kubernetes",
        accelerator="gpu",
        gpus=4,
        gpus_per_node=8,
        store=StoreSpec(kind="s3", endpoint="http://127.0.0.1:9000", bucket="gavel"),
        memory_gib=256.0,
        disk_gib=1.0,
        kubernetes=values,
    )
