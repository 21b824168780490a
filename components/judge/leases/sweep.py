"""``python -m components.judge sweep``: ends judges that nobody uses any more.

For runs that ended without their exit handler: killed, evicted, or with a cluster that went down.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from components.core.errors import GavelError
from components.judge.leases.ended import Ended
from components.judge.leases.hold import help_end, sweep_one
from components.judge.leases.record import Lease, is_going, leases_of
from components.kube.cluster import Cluster
from components.kube.kinds import INFERENCE_SERVICES
from components.kube.labels import MANAGED_BY

Object = dict[str, Any]


def main(argv: Sequence[str]) -> int:
    """Look at every judge once; returns 1 when one could not be dealt with.

    Raises:
        KubeError: there is no cluster, or it refuses to list.
    """
    parser = argparse.ArgumentParser(
        prog="python -m components.judge sweep",
        description="End judges of the cluster all of whose leases have expired. A run renews its leases while it "
        "works, so only judges of runs that are gone are ended.",
    )
    parser.add_argument("--namespace", help="default: that of the pod, or of the kubeconfig's context")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    options = parser.parse_args(argv)
    cluster = Cluster.connect(options.namespace)
    failed = 0
    services = cluster.list(INFERENCE_SERVICES, dict(MANAGED_BY))
    for service in services:
        name = service["metadata"]["name"]
        try:
            said = _sweep(cluster, service, dry=options.dry_run)
        except GavelError as error:
            failed += 1
            print(f"{name}: not swept: {error}", file=sys.stderr, flush=True)
        else:
            print(f"{name}: {said}", flush=True)
    if not services:
        print(f"no judge in namespace {cluster.namespace}", flush=True)
    return int(bool(failed))


def _sweep(cluster: Cluster, service: Object, *, dry: bool) -> str:
    leases = leases_of(service)
    if leases is None:
        return "kept: it carries no leases, so it is not ours to end"
    if is_going(service):
        if not dry:
            help_end(cluster, service)
        return "is being ended"
    live = leases.live(datetime.now(UTC))
    if live:
        return f"kept: {_listed(live)}"
    gone = ", ".join(sorted(lease.holder for lease in leases.held.values())) or "none"
    if dry:
        return f"would be ended: its leases have expired ({gone})"
    ended = sweep_one(cluster, service)
    if ended is Ended.KEPT:
        return "kept: a lease was taken just now"
    return "was gone already" if ended is Ended.ABSENT else f"ended: its leases have expired ({gone})"


def _listed(live: Sequence[Lease]) -> str:
    return "; ".join(
        f"{lease.holder} ({lease.experiment or 'no experiment named'}) until {lease.expires:%Y-%m-%d %H:%M} UTC"
        for lease in sorted(live, key=lambda lease: lease.holder)
    )
