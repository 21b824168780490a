"""Which kinds of objects a cluster knows, and which of those that Gavel needs are missing."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from components.cluster_setup.kubectl import Kubectl, SetupError, is_absent
from components.cluster_setup.objects import Object, group


@dataclass(frozen=True)
class Product:
    """Something that must be installed, by the kind that runs need of it, whatever the overlay holds."""

    name: str
    version: str
    """Of the API."""
    kind: str
    source: str
    """Where to get it."""
    required: bool = True

    @property
    def group(self) -> str:
        """The API group that it brings."""
        return self.version.partition("/")[0]


PRODUCTS = (
    Product("KServe", "serving.kserve.io/v1beta1", "InferenceService", "github.com/kserve/kserve/releases"),
    Product("KubeRay", "ray.io/v1", "RayJob", "github.com/ray-project/kuberay/releases"),
    Product(
        "Kubeflow Pipelines",
        "argoproj.io/v1alpha1",
        "Workflow",
        'github.com/kubeflow/pipelines: kubectl apply -k "github.com/kubeflow/pipelines/manifests/kustomize/'
        'cluster-scoped-resources?ref=2.17.0", then the same with env/platform-agnostic',
    ),
    Product(
        "Kueue",
        "kueue.x-k8s.io/v1beta2",
        "ClusterQueue",
        "github.com/kubernetes-sigs/kueue/releases (0.15 or later, for v1beta2)",
        required=False,
    ),
)


KUBERNETES = (1, 31)
"""The oldest that the manifests are for: they name the pod security level by this version."""

Known = frozenset[tuple[str, str]]
"""API version and kind of what the API server serves."""


def known(kubectl: Kubectl, objects: Iterable[Object]) -> Known:
    """Ask the API server about the API versions of the objects and of the products. ``kubectl api-resources`` would not
    do: it lists a kind under one version alone."""
    versions = {str(item["apiVersion"]) for item in objects} | {product.version for product in PRODUCTS}
    return frozenset((version, kind) for version in sorted(versions) for kind in _kinds(kubectl, version))


def too_old(version: str) -> str | None:
    """A line for a Kubernetes that is older than the manifests; None for another, or one that cannot be read.

    Args:
        version: as the server tells it, such as v1.30.2+k3s1.
    """
    found = re.match(r"v?(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) >= KUBERNETES:
        return None
    return f"Kubernetes: this is {version}, and the manifests are for {KUBERNETES[0]}.{KUBERNETES[1]} and later"


def serves(served: Known, item: Object) -> bool:
    """Whether the object can be given to the server."""
    return (item["apiVersion"], item["kind"]) in served


def missing(objects: Iterable[Object], served: Known) -> list[str]:
    """What is not installed, a line for each: the product, what of it is wanted, and where to get it."""
    lines = []
    absent = [item for item in objects if not serves(served, item)]
    for product in PRODUCTS:
        wanted = {_shown(item) for item in absent if group(item) == product.group}
        if product.required and (product.version, product.kind) not in served:
            wanted.add(f"{product.kind} ({product.version})")
        if wanted:
            lines.append(f"{product.name}: no {', '.join(sorted(wanted))}; get it from {product.source}")
    others = {product.group for product in PRODUCTS}
    rest = {_shown(item) for item in absent if group(item) not in others}
    return lines + [f"Kubernetes itself is too old: no {kind}" for kind in sorted(rest)]


def _kinds(kubectl: Kubectl, version: str) -> set[str]:
    try:
        answer = json.loads(kubectl.run("get", "--raw", f"/apis/{version}" if "/" in version else f"/api/{version}"))
    except SetupError as error:
        if is_absent(error):
            return set()
        raise
    return {str(item["kind"]) for item in answer["resources"]}


def _shown(item: Object) -> str:
    return f"{item['kind']} ({item['apiVersion']})"
