"""The kinds of objects that Gavel reads or writes, with the version of their API."""

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Kind:
    """One kind of object. ``group`` is empty for the core API."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """As in an object's ``apiVersion``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """As RBAC and kubectl name it, such as ``rayjobs.ray.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str, name: str = "", subresource: str = "") -> str:
        """The path of the collection, or of one object."""
        parts = ["apis" if self.group else "api", *self.api_version.split("/")]
        if self.namespaced:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/" + "/".join(quote(part, safe="") for part in parts)


INFERENCE_SERVICES = Kind("serving.kserve.io", "v1beta1", "inferenceservices", "InferenceService")
SERVING_RUNTIMES = Kind("serving.kserve.io", "v1alpha1", "servingruntimes", "ServingRuntime")
RAY_JOBS = Kind("ray.io", "v1", "rayjobs", "RayJob")
RAY_CLUSTERS = Kind("ray.io", "v1", "rayclusters", "RayCluster")
WORKLOADS = Kind("kueue.x-k8s.io", "v1beta2", "workloads", "Workload")
PODS = Kind("", "v1", "pods", "Pod")
EVENTS = Kind("", "v1", "events", "Event")
SERVICES = Kind("", "v1", "services", "Service")
SECRETS = Kind("", "v1", "secrets", "Secret")
CONFIG_MAPS = Kind("", "v1", "configmaps", "ConfigMap")
PERSISTENT_VOLUME_CLAIMS = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
JOBS = Kind("batch", "v1", "jobs", "Job")
NAMESPACES = Kind("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Kind("", "v1", "nodes", "Node", namespaced=False)
