"""Which kinds of objects a cluster knows, and which of those that Gavel needs are missing."""

from collections.abc import Iterable
from dataclasses import dataclass

from components.cluster_setup.kubectl import Kubectl
from components.cluster_setup.objects import Object, group


@dataclass(frozen=True)
class Product:
    """Something that must be installed, by the API group that it brings."""

    name: str
    group: str
    kind: str
    """The kind that runs need, whatever the overlay holds."""
    source: str
    """Where to get it."""
    required: bool = True


PRODUCTS = (
    Product("KServe", "serving.kserve.io", "InferenceService", "github.com/kserve/kserve/releases (0.15 or later)"),
    Product("KubeRay", "ray.io", "RayJob", "github.com/ray-project/kuberay/releases (1.4 or later)"),
    Product(
        "Kubeflow Pipelines",
        "argoproj.io",
        "Workflow",
        "github.com/kubeflow/pipelines: kubectl apply -k manifests/kustomize/env/platform-agnostic?ref=2.17.0",
    ),
    Product(
        "Kueue",
        "kueue.x-k8s.io",
        "ClusterQueue",
        "github.com/kubernetes-sigs/kueue/releases (0.15 or later, for v1beta2)",
        required=False,
    ),
)


@dataclass(frozen=True)
class Known:
    """What the API server serves: API versions, and pairs of group and kind."""

    versions: frozenset[str]
    kinds: frozenset[tuple[str, str]]

    def serves(self, item: Object) -> bool:
        """Whether the object can be given to the server."""
        return item["apiVersion"] in self.versions and (group(item), item["kind"]) in self.kinds


def known(kubectl: Kubectl) -> Known:
    """Ask the API server what it serves."""
    versions = kubectl.run("api-versions").split()
    kinds = set()
    for line in kubectl.run("api-resources", "--no-headers").splitlines():
        # name, short names (perhaps none), API version, namespaced, kind
        words = line.split()
        if len(words) >= 4:
            kinds.add((group({"apiVersion": words[-3]}), words[-1]))
    return Known(frozenset(versions), frozenset(kinds))


def missing(objects: Iterable[Object], served: Known) -> list[str]:
    """What is not installed, a line for each: the product, what of it is wanted, and where to get it."""
    lines = []
    absent = [item for item in objects if not served.serves(item)]
    for product in PRODUCTS:
        wanted = {f"{item['kind']} ({item['apiVersion']})" for item in absent if group(item) == product.group}
        if product.required and (product.group, product.kind) not in served.kinds:
            wanted.add(product.kind)
        if wanted:
            lines.append(f"{product.name}: no {', '.join(sorted(wanted))}; get it from {product.source}")
    others = {product.group for product in PRODUCTS}
    rest = {f"{item['kind']} ({item['apiVersion']})" for item in absent if group(item) not in others}
    return lines + [f"the cluster knows no {kind}: it is too old" for kind in sorted(rest)]
