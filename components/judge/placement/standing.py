"""Judges of a run that stand for as long as a step asks them, whatever became of them before it.

Between the steps that ask judges lie others that do not: a checkpoint is merged, the policy answers on GPUs that it may
wait for. Nobody renews a lease meanwhile, so that judges whose lease runs out free their GPUs. A step of a run that is
retried by hand comes after the exit handler, which gave all leases back.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from components.core.holder import holder
from components.core.progress import Progress
from components.judge.kserve.lookup import service_for
from components.judge.leases.hold import renew
from components.judge.leases.record import new_lease
from components.judge.leases.renewing import on_cluster, renewing
from components.judge.placement.kserve import KservePlacement
from components.judge.placement.together import side_by_side
from components.kube.cluster import Cluster

if TYPE_CHECKING:
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec


@contextlib.contextmanager
def standing(
    judges: Sequence["JudgeSpec"], cluster: "ClusterSpec", *, experiment: str, progress: Progress
) -> Iterator[None]:
    """Hold a lease on each judge until the block ends; those that are gone are brought up again, as deploy-judge does.

    The leases stay afterwards. Nothing is done where judges are no objects of a cluster.

    Args:
        judges: the run's.
        cluster: where they run.
        experiment: stands in labels and leases, for people.
        progress: is told what goes on.

    Raises:
        JudgeError: one that is gone does not come up.
        KubeError: the API server refuses, or is away.
    """
    gone = [judge for judge in on_cluster(judges, cluster) if not _held(judge, cluster, experiment)]

    def up(judge: "JudgeSpec") -> str:
        url = KservePlacement(judge, cluster, experiment).up(progress).url
        progress.phase(f"judge {judge.name} answers at {url}")
        return url

    def kept(judge: "JudgeSpec") -> contextlib.AbstractContextManager[None]:
        return renewing([judge], cluster, experiment=experiment, told=progress.phase, at_once=False)

    for judge in gone:
        progress.phase(f"judge {judge.name} is gone (its lease ran out, or it was ended): bringing it up again")
    # Those that are there may see their leases out while the others wait for nodes.
    with renewing(
        [judge for judge in judges if judge not in gone], cluster, experiment=experiment, told=progress.phase
    ):
        if gone:
            side_by_side(gone, up, kept, progress.phase)
        with renewing(gone, cluster, experiment=experiment, told=progress.phase, at_once=False):
            yield


def _held(judge: "JudgeSpec", cluster: "ClusterSpec", experiment: str) -> bool:
    """Whether the judge is there and this run's lease on it was renewed now; from then on nobody sweeps it."""
    kubernetes = cluster.kubernetes
    assert kubernetes is not None
    there = Cluster.connect(kubernetes.namespace)
    service = service_for(there, judge)
    lease = new_lease(holder(), experiment, kubernetes.lease_minutes)
    return service is not None and renew(there, service, lease) is not None
