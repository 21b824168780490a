"""Pods on nodes: by hand, and against trying every way."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.spec import Experiment, load_experiment
from components.core.spec.kubernetes import PoolSpec
from components.planning.nodes import FOLLOWER, STEPS, Pod, answering_pod, judge_pods, placed, training_pods
from components.rayjob.build import rayjob
from components.rayjob.pods import Training
from pipelines.needs import NEEDS
from pipelines.on_cluster import LIGHT_POOL


def _pod(gpus: int, cpus: float = 1.0, memory: float = 1.0) -> Pod:
    return Pod("x", "p", gpus, cpus, memory, False)


def _pool(nodes: int, gpus: int = 8, cpus: float = 100.0, memory: float = 100.0) -> PoolSpec:
    return PoolSpec(nodes=nodes, gpus=gpus, cpus=cpus, memory_gib=memory)


@pytest.mark.parametrize(
    ("gpus", "nodes", "fits"),
    [
        ([4, 4], 1, "yes"),
        ([4, 4, 2], 1, "no"),
        ([5, 5, 5], 2, "no"),  # 15 of 16 GPUs, and yet no node has room for two of five
        ([5, 5, 3, 3], 2, "yes"),
        ([8, 8, 1], 2, "no"),
        ([], 1, "yes"),
    ],
)
def test_gpus_of_one_pod_lie_on_one_node(gpus: list[int], nodes: int, fits: str) -> None:
    assert placed([_pod(number) for number in gpus], _pool(nodes)) == fits


def test_cpus_and_memory_count_as_well() -> None:
    assert placed([_pod(1, cpus=60), _pod(1, cpus=60)], _pool(1)) == "no"
    assert placed([_pod(1, memory=60), _pod(1, memory=60)], _pool(1)) == "no"
    assert placed([_pod(1, memory=60), _pod(1, memory=60)], _pool(2)) == "yes"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), max_size=5), st.integers(1, 3))
def test_like_trying_every_way(pods: list[tuple[int, int]], nodes: int) -> None:
    pool = _pool(nodes, gpus=4, cpus=8.0)

    def works(ways: tuple[int, ...]) -> bool:
        return all(
            sum(pods[i][0] for i, way in enumerate(ways) if way == node) <= 4
            and sum(pods[i][1] for i, way in enumerate(ways) if way == node) <= 8
            for node in range(nodes)
        )

    possible = any(works(ways) for ways in itertools.product(range(nodes), repeat=len(pods)))
    assert placed([_pod(gpus, float(cpus)) for gpus, cpus in pods], pool) == ("yes" if possible else "no")


def test_pods_of_a_training_and_of_judges(on_h800: Callable[..., Experiment]) -> None:
    kubernetes = on_h800().cluster.kubernetes
    assert kubernetes is not None
    worker, head, _ = training_pods(on_h800(), kubernetes)
    assert (worker.gpus, worker.cpus, worker.memory_gib, worker.queued) == (4, 32, 256, True)
    assert (head.gpus, head.cpus, head.memory_gib) == (0, 4, 16)
    many = on_h800("cluster.gpus=16", "training.prompts_per_step=16", "training.mini_batch_prompts=16")
    assert [pod.gpus for pod in training_pods(many, kubernetes)] == [8, 8, 0, 0]
    judge = on_h800("judge.deployment.min_replicas=3", "judge.deployment.max_replicas=3").judge
    assert [pod.gpus for pod in judge_pods(judge, kubernetes)] == [2, 2, 2]
    asleep = on_h800("judge.deployment.min_replicas=0").judge
    assert len(judge_pods(asleep, kubernetes)) == 1


def test_pods_ask_for_what_the_job_asks_for(on_h800: Callable[..., Experiment]) -> None:
    """What is planned is what the RayJob's own templates request."""
    many = ["cluster.gpus=16", "training.prompts_per_step=16", "training.mini_batch_prompts=16"]
    for experiment in (on_h800(), on_h800(*many), load_experiment("dev_cluster")):
        kubernetes = experiment.cluster.kubernetes
        assert kubernetes is not None
        spec = rayjob(Training(experiment, "name", {}), "0" * 64, "true")["spec"]
        (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
        asked = [_requested(group["template"])] * group["replicas"]
        asked += [_requested(spec["rayClusterSpec"]["headGroupSpec"]["template"])]
        asked += [_requested(spec["submitterPodTemplate"])]
        planned = [pod for pod in training_pods(experiment, kubernetes) if pod.owner.startswith("training")]
        assert [(pod.gpus, pod.cpus, pod.memory_gib) for pod in planned] == asked


def _requested(template: dict[str, Any]) -> tuple[int, float, float]:
    (container,) = template["spec"]["containers"]
    asked = container["resources"]["requests"]
    sizes = {"Gi": 1.0, "Mi": 1 / 1024}
    cpu, memory = str(asked["cpu"]), asked["memory"]
    cpus = float(cpu[:-1]) / 1000 if cpu.endswith("m") else float(cpu)
    return int(asked.get("nvidia.com/gpu", 0)), cpus, float(memory[:-2]) * sizes[memory[-2:]]


def test_generation_is_planned_as_its_step_asks(on_h800: Callable[..., Experiment]) -> None:
    """By the compiled step's own rules: the cluster's CPUs and memory, and the GPUs of one copy."""
    need = NEEDS["generate"]
    assert (need.heavy, need.gpu, need.memory_gib) == (True, True, 0)
    for experiment, gpus, queued in ((on_h800(), 2, True), (load_experiment("dev_cluster"), 0, False)):
        cluster = experiment.cluster
        assert cluster.kubernetes is not None
        pod = answering_pod(experiment, cluster.kubernetes)
        assert (pod.gpus, pod.queued, pod.pool) == (gpus, queued, cluster.kubernetes.training_pool)
        assert (pod.cpus, pod.memory_gib) == (cluster.cpu_threads, cluster.memory_gib)


def test_the_step_that_follows_counts_where_it_lies(on_h800: Callable[..., Experiment]) -> None:
    need = NEEDS["train-grpo"]
    assert (need.cpus, need.memory_gib) == FOLLOWER
    assert STEPS == LIGHT_POOL
    dev, h800 = load_experiment("dev_cluster"), on_h800()
    steps = on_h800("cluster.kubernetes.pools.steps={nodes: 1, cpus: 8, memory_gib: 32}")
    for experiment, pool in ((dev, "node"), (h800, None), (steps, "steps")):
        kubernetes = experiment.cluster.kubernetes
        assert kubernetes is not None
        found = [pod.pool for pod in training_pods(experiment, kubernetes) if pod.owner.startswith("step")]
        assert found == ([] if pool is None else [pool])
