"""What is set on the tasks of a graph that a cluster runs; most of it lands in the package's second document."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.holder import KFP_RUN
from components.core.images import USER, pinned
from components.core.spec.cluster import ClusterSpec
from components.core.spec.kubernetes import MODELS, KubernetesSpec, PoolSpec
from components.kube.labels import LABEL_PRIORITY, LABEL_QUEUE
from pipelines.needs import NEEDS, Need
from pipelines.placing import Placing

SERVICE_ACCOUNT = "gavel-pipeline"
KFP_API = "http://ml-pipeline.kubeflow.svc.cluster.local:8888"
"""KFP's API as pods of the cluster reach it."""
LIGHT_POOL = "steps"
"""Name of the node pool of light steps, where the cluster's ``pools`` has one."""
_STATE = "/state"
_BACKOFF = {"backoff_duration": "30s", "backoff_factor": 2.0, "backoff_max_duration": "600s"}
_STORE_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


class OnCluster(Placing):
    """Images, resources, nodes, secrets, retries and deadlines of the tasks of one cluster.

    They are fixed when the pipeline is compiled, for one cluster: KFP could take some of them from parameters of the
    run, but then a rerun in the UI could ask for nodes that are not there.
    """

    def __init__(
        self,
        cluster: ClusterSpec,
        *,
        judge_keys: Iterable[str] = (),
        allow_tags: bool = False,
        images_file: Path | None = None,
        kfp_api: str = "",
        claims: bool = True,
    ) -> None:
        """Look up the images.

        Args:
            cluster: of placement kubernetes.
            judge_keys: names of the environment variables with judges' API keys; each may be missing in the Secret.
            allow_tags: whether images may be named by tags.
            images_file: see :func:`components.core.images.pinned`.
            kfp_api: URL of KFP's API inside the cluster; by default ``$KFP_API``, or :data:`KFP_API`.
            claims: whether the pods run in the cluster's namespace, where its volume claims are. Those of a standalone
                KFP run in KFP's own: there models are fetched anew for every pod.

        Raises:
            ConfigError: the cluster is not on Kubernetes, or an image has no digest.
        """
        self._kubernetes = kubernetes_of(cluster)
        self._cluster = cluster
        self._model_claim = self._kubernetes.model_claim if claims else None
        self._judge_keys = sorted(set(judge_keys))
        self._kfp_api = kfp_api or os.environ.get("KFP_API") or KFP_API
        self.images: Mapping[str, str] = pinned(
            {need.image for need in NEEDS.values()},
            accelerator=cluster.accelerator,
            allow_tags=allow_tags,
            file=images_file,
        )
        self.code_version = hashlib.sha256(json.dumps(self.images, sort_keys=True).encode()).hexdigest()[:16]

    def place(self, task: Any, step: str) -> Any:
        """Set everything that ``step`` needs."""
        super().place(task, step)
        need = NEEDS[step]
        task.set_container_image(self.images[need.image])
        task.set_retry(need.retries, **_BACKOFF)
        self._resources(task, need)
        self._environment(task, need)
        self._volumes(task, need)
        self._nodes(task, need)
        from kfp import kubernetes

        kubernetes.set_timeout(task, int(need.hours * 3600))
        kubernetes.set_security_context(task, run_as_user=USER, run_as_group=USER, run_as_non_root=True)
        # A digest never changes what it names.
        kubernetes.set_image_pull_policy(task, "IfNotPresent")
        kubernetes.add_pod_label(task, "app.kubernetes.io/part-of", "gavel")
        kubernetes.add_pod_label(task, "gavel.dev/step", step)
        if self._gpus(need):
            self._queue(task)
        return task

    def _queue(self, task: Any) -> None:
        """Have Kueue count the pod like the training's, by its integration for plain pods.

        The queue is looked for in the namespace of the runs. The priority is the training's: a pod that a higher one
        pushes out is deleted, which KFP takes for an error, and its retries are for failures alone.
        """
        from kfp import kubernetes

        for label, value in ((LABEL_QUEUE, self._kubernetes.queue), (LABEL_PRIORITY, self._kubernetes.priority)):
            if value is not None:
                kubernetes.add_pod_label(task, label, value)

    def _gpus(self, need: Need) -> int:
        return self._cluster.tensor_parallel if need.gpu and self._cluster.accelerator == "gpu" else 0

    def _memory_gib(self, need: Need) -> float:
        return self._cluster.memory_gib if need.heavy else need.memory_gib

    def _resources(self, task: Any, need: Need) -> None:
        memory = f"{self._memory_gib(need):g}Gi"
        task.set_memory_request(memory)
        task.set_memory_limit(memory)
        task.set_cpu_request(f"{self._cluster.cpu_threads if need.heavy else need.cpus:g}")
        if gpus := self._gpus(need):
            task.set_accelerator_type(self._pool(need).gpu_resource)
            task.set_accelerator_limit(gpus)

    def _environment(self, task: Any, need: Need) -> None:
        from kfp import kubernetes

        task.set_env_variable("GAVEL_STATE", _STATE)
        # Under this id leases are held, and KFP is asked whether the run was cancelled. As an environment variable it
        # is no input, so that it spoils no hit in the cache.
        kubernetes.use_field_path_as_env(task, KFP_RUN, "metadata.labels['pipeline/runid']")
        kubernetes.use_secret_as_env(task, self._kubernetes.store_secret, {key: key for key in _STORE_KEYS})
        if need.judge and self._judge_keys:
            keys = {key: key for key in self._judge_keys}
            kubernetes.use_secret_as_env(task, self._kubernetes.judge_secret, keys, optional=True)
        if need.image == "trainer":
            task.set_env_variable("GAVEL_IMAGE_TRAINER", self.images["trainer"])
            task.set_env_variable("KFP_HOST", self._kfp_api)
        if need.models:
            models = MODELS if self._model_claim else f"{_STATE}/models"
            task.set_env_variable("GAVEL_CACHE", f"{models}/gavel")
            task.set_env_variable("HF_HOME", f"{models}/huggingface")

    def _volumes(self, task: Any, need: Need) -> None:
        from kfp import kubernetes

        disk = self._cluster.disk_gib if need.heavy else need.disk_gib
        kubernetes.empty_dir_mount(task, "state", _STATE, size_limit=f"{disk:g}Gi")
        if need.models and self._model_claim:
            kubernetes.mount_pvc(task, self._model_claim, MODELS)
        if self._gpus(need):
            # Processes that share a model on several GPUs talk through it; a pod gets 64 MB by itself.
            shared = min(self._kubernetes.shm_gib, self._memory_gib(need) / 2)
            kubernetes.empty_dir_mount(task, "shm", "/dev/shm", medium="Memory", size_limit=f"{shared:g}Gi")

    def _nodes(self, task: Any, need: Need) -> None:
        from kfp import kubernetes

        if not need.heavy and LIGHT_POOL not in self._kubernetes.pools:
            return
        pool = self._pool(need)
        for key, value in pool.selector.items():
            kubernetes.add_node_selector(task, key, value)
        for taint in pool.tolerations:
            kubernetes.add_toleration(
                task, key=taint.key, operator=taint.operator, value=taint.value, effect=taint.effect
            )

    def _pool(self, need: Need) -> PoolSpec:
        return self._kubernetes.pools[self._kubernetes.training_pool if need.heavy else LIGHT_POOL]


def kubernetes_of(cluster: ClusterSpec) -> KubernetesSpec:
    """The Kubernetes settings of a cluster.

    Raises:
        ConfigError: it is a local one.
    """
    if cluster.placement != "kubernetes" or cluster.kubernetes is None:
        remedy = (
            "name a cluster of placement kubernetes, such as cluster=h800 or cluster=dev; on this machine: make run"
        )
        raise ConfigError(f"cluster {cluster.name} is this machine", where="cluster.placement", remedy=remedy)
    return cluster.kubernetes


def key_variables(judges: Sequence[Any]) -> set[str]:
    """Names of the environment variables that hold the judges' API keys."""
    return {name for judge in judges for name in (judge.api_key_env, *judge.more_key_envs) if name}
