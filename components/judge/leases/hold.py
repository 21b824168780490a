"""Taking, renewing and giving back a lease on a judge, each against all others who do the same at that moment."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from components.core.errors import JudgeError
from components.judge.leases.ended import Ended
from components.judge.leases.record import Lease, Leases, is_going, leases_of, written
from components.kube.cluster import Cluster
from components.kube.errors import AlreadyExistsError
from components.kube.kinds import INFERENCE_SERVICES
from components.kube.labels import ANNOTATION_SPEC

Object = dict[str, Any]

_UNCLEAR = 50
"""How often two looks may tell the opposite; runs that come and go at the same moment do so a few times."""
GONE_SECONDS = 600.0
"""How long the end of a former judge of the same name may take: its pods have time to end, and volumes to detach."""


def take(
    cluster: Cluster,
    body: Object,
    lease: Lease,
    *,
    told: Callable[[str], None],
    patience: float = GONE_SECONDS,
    pause: float = 2.0,
) -> tuple[Object, bool]:
    """The judge's InferenceService with our lease on it: the one that is there, or a new one.

    Args:
        cluster: where it lies.
        body: what is wanted, without leases.
        lease: ours.
        told: is told of waiting.
        patience: seconds that a former one of the same name may take to go.
        pause: seconds between two looks.

    Returns:
        The object, and whether it was made now.

    Raises:
        JudgeError: there is another one of this name, a former one does not go, or the API server tells in turn that it
            is there and that it is not.
        KubeError: the API server refuses, or is away.
    """
    name = body["metadata"]["name"]
    end = time.monotonic() + patience
    waited, unclear = False, 0
    while True:
        now = cluster.get(INFERENCE_SERVICES, name)
        if now is None:
            try:
                return cluster.create(INFERENCE_SERVICES, written(body, Leases({lease.key: lease}))), True
            except AlreadyExistsError:
                # Somebody was quicker, or our own request came through and its answer was lost. The next look shows it,
                # unless it is gone again; an API server that goes on telling both is not to be trusted.
                unclear += 1
                if time.monotonic() > end or unclear >= _UNCLEAR:
                    raise _contradicted(cluster, name, unclear) from None
                time.sleep(min(pause, 0.1 * unclear))
                continue
        if not is_going(now):
            _check_same(now, body)
            held = renew(cluster, now, lease)
            if held is not None:
                return held, False
            # It went, or began to, since that look.
            unclear += 1
            if time.monotonic() > end or unclear >= _UNCLEAR:
                raise _contradicted(cluster, name, unclear)
            continue
        help_end(cluster, now)
        if not waited:
            told(f"a former {name} is being ended; waiting until it is gone")
            waited = True
        if time.monotonic() > end:
            raise JudgeError(
                f"a former judge of this name has not gone within {patience:.0f} s",
                where=f"InferenceService {cluster.namespace}/{name}",
                remedy="see what holds it: kubectl describe; a finalizer stays where KServe's controller does not run",
            )
        time.sleep(pause)


def renew(cluster: Cluster, service: Object, lease: Lease) -> Object | None:
    """Put our lease on this very object, in place of a former one of ours; None if it has gone or is going."""
    name, uid = service["metadata"]["name"], service["metadata"]["uid"]
    held = False

    def change(now: Object) -> Object | None:
        nonlocal held
        held = now["metadata"]["uid"] == uid and not is_going(now)
        if not held:
            return None
        return written(now, (leases_of(now) or Leases()).with_lease(lease, datetime.now(UTC)))

    found = cluster.edit(INFERENCE_SERVICES, name, change)
    return found if held else None


def release(cluster: Cluster, service: Object, holder: str) -> Ended:
    """Give our lease back; the judge ends if no other one is alive."""
    return _let_go(cluster, service, lambda leases: leases.without(holder, datetime.now(UTC)))


def sweep_one(cluster: Cluster, service: Object) -> Ended:
    """End the judge if all its leases are dead."""
    return _let_go(cluster, service, lambda leases: leases.swept(datetime.now(UTC)))


def help_end(cluster: Cluster, service: Object) -> None:
    """Delete a judge whose end was decided, in case that whoever decided it did not come to it."""
    if not service["metadata"].get("deletionTimestamp"):
        cluster.delete(INFERENCE_SERVICES, service["metadata"]["name"], uid=service["metadata"]["uid"])


def _let_go(cluster: Cluster, service: Object, decide: Callable[[Leases], Leases]) -> Ended:
    name, uid = service["metadata"]["name"], service["metadata"]["uid"]
    found = Ended.ABSENT

    def change(now: Object) -> Object | None:
        nonlocal found
        found = Ended.ABSENT
        leases = leases_of(now)
        if now["metadata"]["uid"] != uid or leases is None:
            return None
        decided = decide(leases)
        found = Ended.ENDED if decided.closing else Ended.KEPT
        return None if decided == leases or now["metadata"].get("deletionTimestamp") else written(now, decided)

    if cluster.edit(INFERENCE_SERVICES, name, change) is None:
        return Ended.ABSENT
    if found is Ended.ENDED:
        # From here on nobody takes a lease on it; deleting twice, or what another has deleted, does no harm.
        cluster.delete(INFERENCE_SERVICES, name, uid=uid)
    return found


def _contradicted(cluster: Cluster, name: str, times: int) -> JudgeError:
    return JudgeError(
        f"the judge's object is there and is not: {times} times it was neither made nor held",
        where=f"InferenceService {cluster.namespace}/{name}",
        remedy="see who makes and deletes InferenceServices of this name, and whether the API server is well "
        "(an old cache in front of it), then run the step again",
    )


def _check_same(there: Object, wanted: Object) -> None:
    ours = wanted["metadata"]["annotations"][ANNOTATION_SPEC]
    theirs = (there["metadata"].get("annotations") or {}).get(ANNOTATION_SPEC)
    if ours != theirs:
        metadata = there["metadata"]
        raise JudgeError(
            "there is an InferenceService of this name that was not made from these settings",
            where=f"InferenceService {metadata.get('namespace')}/{metadata['name']}: annotation {ANNOTATION_SPEC}",
            remedy="delete it if nobody needs it, or give the judge another name",
        )
