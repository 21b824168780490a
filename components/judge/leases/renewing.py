"""Keeping leases alive for as long as work goes on."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from components.core.errors import GavelError
from components.core.holder import holder
from components.judge.endpoint import given_endpoint
from components.judge.kserve.lookup import service_for
from components.judge.leases.hold import renew
from components.judge.leases.record import new_lease
from components.kube.cluster import Cluster

if TYPE_CHECKING:
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec

_AGAIN = 60.0
"""Seconds until a renewal that failed is tried again."""


def on_cluster(judges: Sequence["JudgeSpec"], cluster: "ClusterSpec") -> list["JudgeSpec"]:
    """Those of the judges that are objects of the cluster, and so have leases; one whose endpoint the environment names
    is somebody else's.

    Raises:
        JudgeError: the environment's endpoints cannot be read.
    """
    if cluster.placement != "kubernetes" or cluster.kubernetes is None:
        return []
    return [judge for judge in judges if judge.serving == "kserve" and given_endpoint(judge.name) is None]


@contextlib.contextmanager
def renewing(
    judges: Sequence["JudgeSpec"],
    cluster: "ClusterSpec",
    *,
    experiment: str = "",
    told: Callable[[str], None] = print,
    every: float | None = None,
    at_once: bool = True,
) -> Iterator[None]:
    """Renew this run's leases on its judges now, and until the block ends. The leases stay afterwards.

    Nothing is done where judges are no objects of a cluster. A renewal that fails is told and tried again; it fails
    nothing, for a judge that is gone makes itself heard by not answering.

    Args:
        judges: the run's.
        cluster: where they run.
        experiment: stands in the lease, for people.
        told: is told what went wrong.
        every: seconds between two renewals; a quarter of a lease by default.
        at_once: whether the first renewal is now, rather than after that time.
    """
    kubernetes, served = cluster.kubernetes, on_cluster(judges, cluster)
    if kubernetes is None or not served:
        yield
        return
    minutes = kubernetes.lease_minutes
    pause = minutes * 15 if every is None else every
    over = threading.Event()
    run = holder()

    def work() -> None:
        if not at_once and over.wait(pause):
            return
        while True:
            failed = [
                judge for judge in served if not _renewed(judge, kubernetes.namespace, run, experiment, minutes, told)
            ]
            if over.wait(min(pause, _AGAIN) if failed else pause):
                return

    thread = threading.Thread(target=work, name="judge-leases", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        # A renewal may hang for as long as the API server is away, and is not worth waiting for.
        thread.join(5.0)


def _renewed(
    judge: "JudgeSpec", namespace: str, run: str, experiment: str, minutes: float, told: Callable[[str], None]
) -> bool:
    try:
        cluster = Cluster.connect(namespace)
        service = service_for(cluster, judge)
        held = None if service is None else renew(cluster, service, new_lease(run, experiment, minutes))
    except GavelError as error:
        told(f"the lease on judge {judge.name} is not renewed yet: {error.what}")
        return False
    if held is None:
        told(f"judge {judge.name} is not deployed any more, so there is no lease to renew")
    return held is not None
