"""Taking away what an overlay brought. Data stays, unless it is asked for by name."""

from collections.abc import Callable

from components.cluster_setup.definitions import known, serves
from components.cluster_setup.kubectl import Kubectl, SetupError
from components.cluster_setup.objects import NAMESPACE, Object, namespace, title
from components.cluster_setup.overlay import build
from components.cluster_setup.ownership import check_owner

_SECONDS = 180.0
_DATA = ("Namespace", "PersistentVolumeClaim")
_RUNNING = ("inferenceservices.serving.kserve.io", "rayjobs.ray.io")


def undeploy(
    kubectl: Kubectl, overlay: str, *, data: bool = False, force: bool = False, say: Callable[[str], None] = print
) -> None:
    """Delete the overlay's objects.

    Args:
        kubectl: the cluster.
        overlay: its name or folder.
        data: also the claims, and with the namespace all that is in it: results, weights, Secrets.
        force: although judges or trainings are there, or another overlay brought some of the objects.
        say: gets a line for each object.

    Raises:
        SetupError: judges or trainings are there, another overlay is, or the cluster refused.
    """
    objects = build(kubectl, overlay)
    say(f"cluster: {kubectl.describe()}")
    served = known(kubectl, objects)
    running = [
        f"{kind.partition('.')[0]} {item['metadata']['name']}"
        for kind in _RUNNING
        for item in kubectl.list(kind, NAMESPACE)
    ]
    if running and not force:
        raise SetupError(
            f"{len(running)} judges or trainings are there: {', '.join(running)}",
            where=f"namespace {NAMESPACE}",
            remedy="end their runs first, or FORCE=1 to take accounts, runtimes and network from under them",
        )
    here = [item for item in objects if serves(served, item)]
    if not force:
        check_owner(kubectl, [item for item in here if data or item["kind"] not in _DATA], overlay)
    parts = [[item for item in here if item["kind"] not in _DATA]]
    if data:
        parts.append([item for item in here if item["kind"] in _DATA])
    gone = 0
    for part in parts:
        for line in kubectl.delete(_order(part), _SECONDS):
            say(line)
            gone += 1
    if not gone:
        say(f"nothing of overlay {overlay} is there")
    if data:
        return
    claims = kubectl.list("persistentvolumeclaims", NAMESPACE)
    if claims or kubectl.get("namespace", NAMESPACE):
        names = ", ".join(item["metadata"]["name"] for item in claims) or "none"
        say(f"kept: namespace {NAMESPACE}, its Secrets and claims ({names}); DATA=1 deletes them too")


def _order(objects: list[Object]) -> list[Object]:
    """Users before what they use: workloads, then policies and accounts, then claims, then namespaces; queues before
    the flavors that they name."""
    last = {"ServiceAccount": 1, "ClusterQueue": 2, "ResourceFlavor": 3, "PersistentVolumeClaim": 4, "Namespace": 5}
    return sorted(objects, key=lambda item: (last.get(item["kind"], 0), namespace(item) or "", title(item)))
