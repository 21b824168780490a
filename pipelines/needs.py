"""What each step needs of a cluster's nodes."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    """Resources of one step.

    Attributes:
        image: dependency set.
        cpus: requested; there is no limit, since throttling helps nobody.
        memory_gib: requested, and not to be passed; 0 for a heavy step takes the cluster's.
        disk_gib: of the state folder; 0 for a heavy step takes the cluster's.
        hours: after which a pod that runs is taken for hung. Longer than the step's own deadlines.
        retries: of a failed pod, by KFP. All steps are safe to repeat: what is published is not made again, training
            goes on from its last checkpoint.
        heavy: computes on a node of the training pool, with the CPUs and memory that the cluster gives a training pod.
        gpu: also takes the GPUs that share one copy of the policy, where the cluster has any.
        judge: asks a judge, and so needs the keys of external ones.
        models: reads model weights, which the claim of models keeps.
    """

    image: str
    cpus: float = 0.5
    memory_gib: float = 2.0
    disk_gib: float = 2.0
    hours: float = 1.0
    retries: int = 2
    heavy: bool = False
    gpu: bool = False
    judge: bool = False
    models: bool = False


def _light(image: str = "tools", **more: float | bool) -> Need:
    return Need(image, **more)  # type: ignore[arg-type]


def _heavy(image: str, **more: float | bool) -> Need:
    return Need(image, memory_gib=0, disk_gib=0, heavy=True, models=True, **more)  # type: ignore[arg-type]


NEEDS: Mapping[str, Need] = {
    "resolve": _light(memory_gib=1.0, disk_gib=1.0),
    "prepare-data": _light(memory_gib=4.0, disk_gib=8.0, hours=4),
    # Its own deadline is sized from the judge's weight.
    "deploy-judge": _light(hours=24, judge=True),
    "probe-judge": _light(hours=2, judge=True),
    # Only follows the RayJob. What it waits for, a queue among it, may take days.
    "train-grpo": Need("trainer", memory_gib=4.0, disk_gib=8.0, hours=24 * 30, retries=5, judge=True),
    "merge-checkpoint": _heavy("trainer", hours=12),
    "import-model": _heavy("trainer", hours=12),
    "generate": _heavy("evaluation", hours=72, gpu=True),
    "generate-ifeval": _heavy("evaluation", hours=72, gpu=True),
    "generate-tasks": _heavy("evaluation", hours=72, gpu=True),
    "ifeval": Need("evaluation", cpus=1.0, memory_gib=4.0, hours=4),
    # Programs run in its sandbox, as many at once as it has CPUs; workflows ask the executor model.
    "score-tasks": Need("evaluation", cpus=4.0, memory_gib=8.0, disk_gib=8.0, hours=24 * 7, judge=True),
    "score": Need("evaluation", cpus=2.0, memory_gib=8.0, disk_gib=16.0, hours=24 * 7, judge=True),
    "report": Need("evaluation", cpus=1.0, memory_gib=6.0, disk_gib=8.0, hours=4),
    "teardown-judge": _light(retries=4),
    "study-arms": _light(memory_gib=1.0, disk_gib=1.0),
    "resolve-arm": _light(memory_gib=1.0, disk_gib=1.0),
    "probe-bias": Need("evaluation", cpus=2.0, memory_gib=8.0, disk_gib=8.0, hours=24 * 7, judge=True),
    # verl's merger, and then generation, for one checkpoint after the other.
    "generate-drift": _heavy("trainer", hours=24 * 7, gpu=True),
    "score-stored": Need("evaluation", cpus=2.0, memory_gib=8.0, disk_gib=16.0, hours=24 * 7, judge=True),
    "record-arm": _light(memory_gib=1.0, disk_gib=1.0),
    "cross-judge": Need("evaluation", cpus=2.0, memory_gib=8.0, disk_gib=16.0, hours=24 * 7, judge=True),
    "study-report": Need("evaluation", cpus=1.0, memory_gib=8.0, disk_gib=16.0, hours=4),
    "teardown-study": _light(retries=4),
}
