"""Which InferenceService is the judge of this run, and where it answers."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from components.core.errors import JudgeError
from components.core.holder import holder
from components.judge.kserve.inference_service import ANNOTATION_MODEL, served_model
from components.judge.leases.record import is_going, leases_of
from components.kube.cluster import Cluster
from components.kube.errors import KubeError
from components.kube.kinds import INFERENCE_SERVICES
from components.kube.labels import LABEL_JUDGE
from components.kube.names import label_value

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

Object = dict[str, Any]

_PATIENCE = 10.0
"""Seconds for a look-up in the middle of judging."""


def services_of(cluster: Cluster, judge: str) -> list[Object]:
    """Every InferenceService of the judge, of whatever settings, that carries leases which can be read."""
    return looked_up(cluster, judge)[0]


def looked_up(cluster: Cluster, judge: str) -> tuple[list[Object], list[JudgeError]]:
    """The same, and what is wrong with those whose leases cannot be read. They are in nobody's way: a judge of one name
    may be there with several settings."""
    found: list[Object] = []
    broken: list[JudgeError] = []
    for service in cluster.list(INFERENCE_SERVICES, {LABEL_JUDGE: label_value(judge)}):
        try:
            found += [] if leases_of(service) is None else [service]
        except JudgeError as error:
            broken.append(error)
    return found, broken


def held_by(services: list[Object], name: str) -> list[Object]:
    """Those on which the holder has a lease, alive or not."""
    return [service for service in services if (leases := leases_of(service)) and leases.of(name)]


def service_for(cluster: Cluster, spec: "JudgeSpec") -> Object | None:
    """The judge that this run holds a lease on; without one, any that serves the same model
    and is in use.

    What is about to end counts for nothing.

    Raises:
        JudgeError: there is none, but one whose leases cannot be read.
    """
    known, broken = looked_up(cluster, spec.name)
    there = [service for service in known if not is_going(service)]
    same = [service for service in there if _model(service) == served_model(spec)]
    mine = held_by(same, holder()) or [service for service in same if _in_use(service)]
    if broken and not mine:
        raise broken[0]
    return min(mine, key=lambda service: (not is_ready(service), service["metadata"]["name"]), default=None)


def find_endpoint(spec: "JudgeSpec", namespace: str | None) -> str:
    """The base URL of the judge's service, without ``/v1``.

    Raises:
        JudgeError: it is not deployed, has no address yet, or the cluster does not tell.
    """
    try:
        cluster = Cluster.connect(namespace, patience=_PATIENCE)
        service = service_for(cluster, spec)
    except KubeError as error:
        raise JudgeError(
            f"the cluster does not tell where judge {spec.name} is: {error.what}",
            where=error.where,
            remedy=error.remedy,
        ) from error
    where = f"namespace {cluster.namespace}: InferenceServices with {LABEL_JUDGE}={label_value(spec.name)}"
    if service is None:
        raise JudgeError(
            f"judge {spec.name} is not deployed", where=where, remedy="run the step deploy-judge first; it makes it"
        )
    address = address_of(service)
    if address is None:
        raise JudgeError(
            f"judge {spec.name} has no address yet",
            where=f"InferenceService {cluster.namespace}/{service['metadata']['name']}",
            remedy="run the step deploy-judge, which waits until it is ready",
        )
    return address


def address_of(service: Object) -> str | None:
    """Where it answers inside the cluster, as KServe tells. The address is right where the service's own name is not:
    a headless Service has the container's port."""
    status = service.get("status") or {}
    url = (status.get("address") or {}).get("url")
    return str(url).rstrip("/") if url else None


def is_ready(service: Object) -> bool:
    """Whether KServe calls it ready. (Its observedGeneration is that of the Deployment in mode Standard, and compares
    with nothing.)"""
    conditions = (service.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _model(service: Object) -> object:
    return (service["metadata"].get("annotations") or {}).get(ANNOTATION_MODEL)


def _in_use(service: Object) -> bool:
    leases = leases_of(service)
    return leases is not None and bool(leases.live(datetime.now(UTC)))
