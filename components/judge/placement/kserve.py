"""A judge as an InferenceService of a cluster, shared by all runs that ask for the same."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from components.core.errors import ConfigError, GavelError, JudgeError
from components.core.holder import holder
from components.core.progress import Progress
from components.judge.endpoint import Endpoint
from components.judge.kserve.inference_service import inference_service
from components.judge.kserve.lookup import held_by, looked_up
from components.judge.kserve.patience import Patience
from components.judge.kserve.sizing import weight_gib
from components.judge.kserve.source import located
from components.judge.kserve.waiting import GoneError, Waiting
from components.judge.leases.ended import Ended
from components.judge.leases.hold import release, sweep_one, take
from components.judge.leases.record import new_lease
from components.kube.cluster import Cluster

if TYPE_CHECKING:
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.kubernetes import KubernetesSpec

Object = dict[str, Any]

_VERDICT_SECONDS = 120.0
"""For the first question: the first batch of a server compiles and warms up."""


class KservePlacement:
    """Makes the judge's InferenceService, or shares the one that runs with the same settings, under a lease.

    One with other settings stays as long as anybody holds a lease on it, beside ours; without one it is ended first, so
    that its GPUs are free for ours.

    Args:
        spec: the judge.
        cluster: pools, names and times.
        experiment: who asks, for labels and leases.
        ask: asks one real question at an address; raises GavelError if no verdict comes.
        patience: limits of waiting; None takes those of the judge's size.
    """

    def __init__(
        self,
        spec: "JudgeSpec",
        cluster: "ClusterSpec",
        experiment: str = "",
        *,
        ask: Callable[[str], None] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._spec = spec
        self._cluster_spec = cluster
        self._experiment = experiment
        self._ask = ask or self._first_verdict
        self._patience = patience

    def up(self, progress: Progress) -> Endpoint:
        """See :class:`components.judge.placement.base.JudgePlacement`.

        If it cannot become ready, the lease is given back, so that nothing pays for a judge that does not answer.
        """
        spec, kubernetes = self._spec, self._kubernetes()
        patience = self._patience or Patience.of(spec, kubernetes)
        cluster = Cluster.connect(kubernetes.namespace)
        body = inference_service(spec, kubernetes, self._experiment, weights=located(spec))
        self._free_others(cluster, body["metadata"]["name"], progress)
        lease = new_lease(holder(), self._experiment, kubernetes.lease_minutes)
        # Long waits for a node must not outlive the lease: up is a holder like any other.
        deleted = 0
        while True:
            service, made = take(cluster, body, lease, told=progress.phase)
            progress.phase(self._found(service, made, patience))
            try:
                waiting = Waiting(cluster, spec.name, patience, progress.phase)
                with self._kept(progress):
                    url = waiting.until_answering(service, self._ask)
                return Endpoint(url, spec.model_name)
            except GoneError as error:
                deleted += 1
                if deleted > patience.deletions:
                    raise
                progress.phase(f"{error.what}; making it again")
                lease = new_lease(holder(), self._experiment, kubernetes.lease_minutes)
            except JudgeError:
                self._give_back(cluster, service, progress)
                raise

    def down(self) -> Ended:
        """Give this run's lease back; the judge ends if nobody else has one."""
        kubernetes = self._kubernetes()
        cluster = Cluster.connect(kubernetes.namespace)
        known, broken = looked_up(cluster, self._spec.name)
        results = [release(cluster, service, holder()) for service in held_by(known, holder())]
        if broken and not results:
            raise broken[0]
        for outcome in (Ended.ENDED, Ended.KEPT):
            if outcome in results:
                return outcome
        return Ended.ABSENT

    def _give_back(self, cluster: Cluster, service: Object, progress: Progress) -> None:
        """Why the judge does not come up is worth more than why its lease stays."""
        try:
            release(cluster, service, holder())
        except GavelError as error:
            progress.phase(f"the lease on judge {self._spec.name} is not given back, and expires: {error.what}")

    def _kept(self, progress: Progress) -> Any:
        from components.judge.leases.renewing import renewing

        return renewing(
            [self._spec], self._cluster_spec, experiment=self._experiment, told=progress.phase, at_once=False
        )

    def _free_others(self, cluster: Cluster, ours: str, progress: Progress) -> None:
        known, broken = looked_up(cluster, self._spec.name)
        for error in broken:
            progress.phase(f"{error.where} stays: {error.what}")
        for service in known:
            name = service["metadata"]["name"]
            if name == ours:
                continue
            try:
                ended = sweep_one(cluster, service)
            except GavelError as error:
                progress.phase(f"{name}, with other settings, stays: {error.what}")
                continue
            state = "ended, for nobody uses it any more" if ended else "in use by others and stays beside ours"
            progress.phase(f"{name} has other settings of judge {self._spec.name}: {state}")

    def _found(self, service: Object, made: bool, patience: Patience) -> str:
        name = service["metadata"]["name"]
        if not made:
            return f"judge {self._spec.name} is there already as {name}, with the same settings; sharing it"
        weight = weight_gib(self._spec)
        size = "weights of unknown size" if weight is None else f"{weight:.3g} GiB of weights"
        return (
            f"made {name} for judge {self._spec.name}: {size}, up to {patience.start / 60:.0f} min once it has a node"
        )

    def _first_verdict(self, url: str) -> None:
        from components.core.spec.reward import RewardSpec
        from components.judge.probing.run import probe

        limits = self._spec.limits.model_copy(update={"sample_deadline_seconds": _VERDICT_SECONDS})
        protocol: Any = "likelihood_ratio" if self._spec.logprobs else "rubric_per_criterion"
        asked = self._spec.model_copy(update={"limits": limits})
        asyncio.run(probe(asked, RewardSpec(name="first-verdict", protocol=protocol), url))

    def _kubernetes(self) -> "KubernetesSpec":
        found = self._cluster_spec.kubernetes
        if found is None:
            raise ConfigError(
                f"judge {self._spec.name} is served by KServe, and cluster {self._cluster_spec.name} is no Kubernetes",
                where="judge.serving",
                remedy="choose a cluster with placement: kubernetes, or another way of serving",
            )
        return found
