"""Bringing a cluster to what an overlay describes. What can be looked at is looked at before the first change."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from components.cluster_setup import initializer, secrets
from components.cluster_setup.addresses import api_server
from components.cluster_setup.definitions import known, missing, serves, too_old
from components.cluster_setup.kubectl import Kubectl, SetupError
from components.cluster_setup.objects import NAMESPACE, Object, containers, namespace
from components.cluster_setup.overlay import build, loose_images, with_addresses, with_images
from components.cluster_setup.ownership import note_others, with_overlay
from components.cluster_setup.waiting import wait
from components.core.store.s3_client import ENDPOINT_VARIABLE


@dataclass(frozen=True)
class Options:
    """What the user allows.

    Attributes:
        allow_tags: images by tag, for a cluster that they were loaded into by hand.
        partial: leave out the objects whose kinds the cluster does not know, instead of refusing.
        seconds: how long to wait for the store.
    """

    allow_tags: bool = False
    partial: bool = False
    seconds: float = 600.0


def prepare(kubectl: Kubectl, overlay: str, options: Options, say: Callable[[str], None] = print) -> list[Object]:
    """The objects as they are to be applied. Reads the cluster and changes nothing.

    Raises:
        GavelError: the cluster cannot be reached, or something is missing; each lack is named in one go.
    """
    objects = build(kubectl, overlay)
    say(f"cluster: {kubectl.describe()}")
    served = known(kubectl, objects)
    lines = missing(objects, served)
    old = too_old(kubectl.version())
    if (lines or old) and not options.partial:
        raise SetupError(
            "the cluster lacks what Gavel needs:\n    " + "\n    ".join([*([old] if old else []), *lines]),
            where=f"overlay {overlay}",
            remedy="install it (docs/cluster.md, What must be installed), or PARTIAL=1 to do without",
        )
    if old:
        say(f"note: {old}; what that does nobody has tried")
    for line in lines:
        say(f"left out, since the cluster lacks it: {line}")
    if any(item["kind"] == "CronJob" and not serves(served, item) for item in objects):
        say(
            "note: without the sweeper expired leases stay, and judges that nobody holds; look after them by hand: "
            ".venv/bin/python -m components.judge sweep --namespace gavel"
        )
    objects = [item for item in objects if serves(served, item)]
    _namespaces(kubectl, objects)
    objects = with_images(objects, allow_tags=options.allow_tags)
    for image in sorted(loose_images(objects)):
        say(f"note: the image {image} has a tag and no digest; pin it in your overlay's images:")
    if any(item["kind"] == "ServingRuntime" for item in objects) and (hint := initializer.advice(kubectl)):
        say(hint)
    return with_overlay(with_addresses(objects, api_server(kubectl)), overlay)


def deploy(kubectl: Kubectl, overlay: str, options: Options, say: Callable[[str], None] = print) -> None:
    """Apply an overlay, and wait for its store and bucket.

    Raises:
        GavelError: as :func:`prepare`; a Secret is missing; the cluster refused an object; the store does not come up.
    """
    objects = prepare(kubectl, overlay, options, say)
    note_others(kubectl, objects, overlay, say)
    _secrets(kubectl, objects, say)
    _tell_kserve(kubectl, objects)
    # The template of a Job cannot be changed. The bucket's is done in seconds, and finds what it made before.
    jobs = [item for item in objects if item["kind"] == "Job"]
    if jobs:
        kubectl.delete(jobs, seconds=60)
    first = [item for item in objects if item["kind"] == "Namespace"]
    for part in (first, [item for item in objects if item["kind"] != "Namespace"]):
        for line in kubectl.apply(part) if part else ():
            say(line)
    wait(kubectl, objects, options.seconds, say=say)
    say(f"overlay {overlay} is deployed; next: make submit EXPERIMENT=... KFP_HOST=... (docs/cluster.md)")


def _namespaces(kubectl: Kubectl, objects: list[Object]) -> None:
    """Objects for a namespace of others, such as KFP's, need it to be there."""
    own = {item["metadata"]["name"] for item in objects if item["kind"] == "Namespace"}
    for space in sorted({namespace(item) or NAMESPACE for item in objects} - own):
        if kubectl.get("namespace", space) is None:
            raise SetupError(
                f"there is no namespace {space}",
                where="the overlay has objects for it",
                remedy="install Kubeflow Pipelines there, or take another component of manifests/components for it",
            )


def _secrets(kubectl: Kubectl, objects: list[Object], say: Callable[[str], None]) -> None:
    spaces = secrets.run_namespaces(objects)
    wrong, right = secrets.lacks(kubectl, spaces)
    if wrong:
        lines = secrets.commands(wrong, right)
        if kubectl.get("namespace", NAMESPACE) is None:
            lines.insert(0, f"kubectl create namespace {NAMESPACE}")
        raise SetupError(
            "the store's credentials are not there:\n    " + "\n    ".join(map(str, wrong)),
            where="nothing was changed; values are never taken from the tree, nor made up by this command",
            remedy="make fresh ones (for an S3 of your own set KEY and SECRET to its keys), then deploy again:\n    "
            + "\n    ".join(lines),
        )
    for space in secrets.without_judge_keys(kubectl, spaces):
        say(
            f"note: no Secret {secrets.JUDGES} in {space}. Experiments with an external judge need it: "
            f"kubectl create secret generic {secrets.JUDGES} -n {space} --from-literal=DASHSCOPE_API_KEY=..."
        )


def _tell_kserve(kubectl: Kubectl, objects: list[Object]) -> None:
    """KServe finds the store of ``s3://`` weights by annotations of the Secret: address and protocol, no value."""
    endpoints = {
        str(item["value"])
        for each in objects
        for container in containers(each)
        for item in container.get("env") or ()
        if item["name"] == ENDPOINT_VARIABLE and "value" in item
    }
    for endpoint in endpoints:
        address = urlsplit(endpoint)
        kubectl.run(
            *("annotate", "secret", secrets.STORE, "-n", NAMESPACE, "--overwrite"),
            f"serving.kserve.io/s3-endpoint={address.netloc}",
            f"serving.kserve.io/s3-usehttps={int(address.scheme == 'https')}",
        )
