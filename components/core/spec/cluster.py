"""The cluster: where the steps run and where results lie. No result's identity depends on it."""

import urllib.parse
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Count, Name, Spec, Text
from components.core.spec.kubernetes import KubernetesSpec

_CREDENTIALS: Final = "the URL carries credentials (not shown), or an @"
_KEYS: Final = "the store's keys come from the environment, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


class StoreSpec(Spec):
    """Where results lie. Credentials come from the environment, never from here."""

    kind: Literal["embedded_s3", "folder", "s3"]
    """An S3 server that the command starts and stops, a folder, or an S3 that is there. Unit: none. Required."""
    url: Text | None = None
    """For folder: file:///absolute/folder, null for one inside the state folder. For s3: s3://bucket/prefix, null for
    the bucket's root. Unit: none. Default: null."""
    endpoint: Text | None = None
    """URL of the S3 server, for s3 alone. Unit: none. Default: null."""
    bucket: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]$")] | None = None
    """Bucket; it must exist for s3, and is made for embedded_s3 (null: gavel). Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.url is not None and "@" in self.url:
            yield Conflict("url", _CREDENTIALS, "take them out (and revoke them if the file was shared); " + _KEYS)
            return
        if self.kind == "s3":
            for key, example in (("endpoint", "http://minio.storage.svc:9000"), ("bucket", "gavel")):
                if getattr(self, key) is None:
                    yield Conflict(key, f"kind s3 needs it, and {key} is null", f"give {key}, for example {example}")
            if self.url is not None and self.bucket is not None and not _inside(self.url, self.bucket):
                yield Conflict(
                    "url", f"{self.url!r} is not in bucket {self.bucket!r}", f"write s3://{self.bucket}/prefix"
                )
        else:
            if self.endpoint is not None:
                yield Conflict("endpoint", f"kind {self.kind} has no endpoint of yours", "remove it, or set kind: s3")
        if self.endpoint is not None and (problem := _endpoint_problem(self.endpoint)):
            yield Conflict("endpoint", *problem)
        if self.kind == "folder":
            if self.bucket is not None:
                yield Conflict("bucket", f"{self.bucket!r}: a folder has no bucket", "remove it, or set kind: s3")
            if self.url is not None and not self.url.startswith("file:///"):
                yield Conflict(
                    "url", f"{self.url!r} is not a file:/// URL", "write file:///absolute/folder, or remove it"
                )
        if self.kind == "embedded_s3" and self.url is not None:
            yield Conflict("url", "the embedded server has no URL of yours", "remove it, or set kind: folder or s3")


def _endpoint_problem(url: str) -> tuple[str, str] | None:
    """What is wrong with an S3 server's URL, and the remedy. The URL is shown only where it holds no credentials."""
    # Before anything reads it as a URL: a password may hold what a URL's parser would quote in its complaint.
    if "@" in url:
        return _CREDENTIALS, "take them out (and revoke them if the file was shared); " + _KEYS
    if not url.startswith(("http://", "https://")):
        return f"{url!r} is not an http:// or https:// URL", "write http://host:port"
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"not a URL ({error})", "write http://host:port"
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        return f"{url!r} is not the URL of a server alone", "write http://host:port, without a path"
    return None


class ClusterSpec(Spec):
    """Where the steps run, and what they may use."""

    name: Name
    """Name in messages; the file's name where the file gives none. Unit: none. Required."""
    placement: Literal["local", "kubernetes"]
    """Processes of this machine, or jobs of a cluster. Unit: none. Required."""
    accelerator: Literal["cpu", "gpu"]
    """What trains and generates. Unit: none. Required."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs for training, all nodes together. Unit: GPUs. Default: 0."""
    gpus_per_node: Annotated[int, Field(ge=0)] = 0
    """GPUs of one node. Unit: GPUs. Default: 0."""
    tensor_parallel: Count = 1
    """GPUs that share one copy of the policy in generation. Unit: GPUs. Default: 1."""
    gpu_memory_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Share of a GPU's memory that generation on held-out prompts may take. Unit: fraction. Default: 0.9."""
    store: StoreSpec
    """Where results lie. Unit: none. Required."""
    cpu_threads: Count = 2
    """Threads for one process that computes. Unit: threads. Default: 2."""
    memory_gib: Annotated[float, Field(gt=0)]
    """Main memory that the run needs; checked before it starts. Unit: GiB. Required."""
    disk_gib: Annotated[float, Field(gt=0)]
    """Free disk that the run needs; checked before it starts. Unit: GiB. Required."""
    kubernetes: KubernetesSpec | None = None
    """Node pools, queue and names of the cluster's objects; needed for placement kubernetes, null for local.
    Unit: none. Default: null."""

    @property
    def training_nodes(self) -> int:
        """Pods with GPUs (or one without) that train; each has a node's share of its own."""
        return max(1, -(-self.gpus // self.gpus_per_node)) if self.gpus_per_node else 1

    @property
    def pod_gpus(self) -> int:
        """GPUs of one training pod."""
        return min(self.gpus, self.gpus_per_node)

    def conflicts(self) -> Iterable[Conflict]:
        if self.accelerator == "cpu":
            if self.gpus > 0:
                yield Conflict(
                    "gpus", f"accelerator cpu uses none of {self.gpus} GPUs", "set gpus: 0, or accelerator: gpu"
                )
            elif self.tensor_parallel > 1:
                yield Conflict("tensor_parallel", f"{self.tensor_parallel}: a CPU run has one copy", "set it to 1")
        elif self.gpus == 0:
            yield Conflict("gpus", "accelerator gpu needs at least one", "set gpus, or accelerator: cpu")
        else:
            yield from self._gpu_conflicts()
        if self.placement == "kubernetes" and self.store.kind != "s3":
            yield Conflict(
                "store.kind",
                f"{self.store.kind} lies on one machine, which the pods of a cluster do not share",
                "use kind: s3 with endpoint and bucket",
            )
        if self.placement == "local" and self.kubernetes is not None:
            yield Conflict("kubernetes", "it has no effect with placement local", "remove it: kubernetes: null")
        if self.placement == "kubernetes":
            if self.kubernetes is None:
                yield Conflict(
                    "kubernetes",
                    "placement kubernetes needs its node pools, and kubernetes is null",
                    "give them as configs/clusters/h800.yaml or dev.yaml does, or start from one: cluster: {use: dev}",
                )
            else:
                yield from self._pool_conflicts(self.kubernetes)

    def _pool_conflicts(self, kubernetes: KubernetesSpec) -> Iterable[Conflict]:
        """What no pod of the training finds on a node of its pool."""
        name = kubernetes.training_pool
        pool = kubernetes.pool(name)
        if pool is None:
            return  # told where the name stands
        where = f"a node of pool {name}"
        if self.pod_gpus > pool.gpus:
            yield Conflict(
                "gpus_per_node",
                f"a training pod asks for {self.pod_gpus} GPUs, and {where} has {pool.gpus}",
                "lower gpus or gpus_per_node, or choose another training_pool",
            )
        if self.training_nodes > pool.nodes:
            yield Conflict(
                "gpus",
                f"{self.gpus} GPUs take {self.training_nodes} nodes of gpus_per_node {self.gpus_per_node}, and pool "
                f"{name} has {pool.nodes}",
                f"use at most {pool.nodes * self.gpus_per_node} GPUs, or correct kubernetes.pools.{name}.nodes",
            )
        for key, asked, has, unit in (
            ("cpu_threads", self.cpu_threads, pool.cpus, "CPUs"),
            ("memory_gib", self.memory_gib, pool.memory_gib, "GiB"),
        ):
            if asked > has:
                yield Conflict(
                    key, f"a training pod asks for {asked:g} {unit}, and {where} has {has:g}", f"lower {key}"
                )
        if self.pod_gpus and kubernetes.shm_gib >= self.memory_gib:
            yield Conflict(
                "kubernetes.shm_gib",
                f"{kubernetes.shm_gib:g} GiB of shared memory count as memory of the pod, which has "
                f"memory_gib {self.memory_gib:g}",
                "lower it, or raise memory_gib",
            )

    def _gpu_conflicts(self) -> Iterable[Conflict]:
        per_node = self.gpus_per_node
        if per_node == 0:
            yield Conflict(
                "gpus_per_node", "0, but accelerator is gpu", f"set it to what one node has, such as {self.gpus}"
            )
        elif self.gpus > per_node and self.placement == "local":
            yield Conflict("gpus", f"{self.gpus} GPUs, but this machine has gpus_per_node {per_node}", "lower gpus")
        elif self.gpus > per_node and self.gpus % per_node:
            yield Conflict(
                "gpus",
                f"{self.gpus} GPUs do not fill whole nodes of gpus_per_node {per_node}",
                f"use a multiple of {per_node}, or at most {per_node}",
            )
        if self.tensor_parallel > self.gpus:
            yield Conflict(
                "tensor_parallel",
                f"{self.tensor_parallel} is above gpus {self.gpus}",
                f"use at most {self.gpus}, or give more GPUs",
            )
        elif self.gpus % self.tensor_parallel:
            yield Conflict(
                "tensor_parallel",
                f"{self.tensor_parallel} does not divide gpus {self.gpus}",
                "use a divisor of gpus",
            )


def _inside(url: str, bucket: str) -> bool:
    return url == f"s3://{bucket}" or url.startswith(f"s3://{bucket}/")
