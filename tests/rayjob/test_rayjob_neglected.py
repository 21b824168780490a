"""Jobs that nobody takes up, whose pods are not let in, or that are on their way out when the step comes."""

from typing import Any

import pytest
from kube_fixture import Api
from operators import Ray, RayOperator
from ray_training import BASE, IDENTITY, PLACE, Played, training
from test_rayjob_follow import QUICK, InThread, follow, jobs, wait_for

from components.core.errors import StepError
from components.kube.errors import AlreadyExistsError
from components.kube.kinds import RAY_JOBS
from components.rayjob import attempts
from components.rayjob.build import entrypoint, rayjob
from components.rayjob.patience import Patience

Object = dict[str, Any]
ACCOUNT = 'Failed to create head Pod n/h, pods "h" is forbidden: serviceaccount "gavel-trainer" not found'
QUOTA = 'Failed to create head Pod n/h, pods "h" is forbidden: exceeded quota: gavel-gpus, used: 16, limited: 16'


class Away(RayOperator):
    """Does nothing but what the garbage collector does."""

    def reconcile(self, body: Object) -> None:
        pass


class Refused(RayOperator):
    """Is told at first that the head's pod is forbidden; goes on afterwards where ``later`` says so."""

    message, later = ACCOUNT, False

    def reconcile(self, body: Object) -> None:
        status = body.get("status") or {}
        name = status.get("rayClusterName")
        if name and self._since.get((body["metadata"]["uid"], "told")) is None:
            self.elapsed(body, "told")
            metadata = {"name": name, "uid": "1" * 8, "namespace": self.api.namespace, "resourceVersion": "1"}
            cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": metadata}
            self.api.report(cluster, "FailedToCreateHeadPod", self.message)
        if not name or self.later:
            super().reconcile(body)


def test_a_job_that_no_operator_takes_up_is_told(api: Api, played: Played) -> None:
    patience = Patience(stall=60.0, pause=60.0, poll=0.1, unseen=0.5)
    with Away(api), pytest.raises(StepError, match="KubeRay has not taken up") as caught:
        follow(api, played, patience)
    assert "operator" in caught.value.remedy
    assert jobs(api) == []


def test_pods_that_are_not_let_in_end_the_wait_with_the_reason(api: Api, played: Played) -> None:
    with Refused(api), pytest.raises(StepError, match='serviceaccount "gavel-trainer" not found'):
        follow(api, played)
    assert jobs(api) == []


def test_a_quota_counts_as_waiting_for_nodes(api: Api, played: Played) -> None:
    patience = Patience(stall=60.0, pause=60.0, poll=0.1, trouble=0.1, queue=0.5)
    with Refused(api) as operator:
        operator.message = QUOTA
        with pytest.raises(StepError, match=r"within cluster.kubernetes.queue_minutes.*exceeded quota"):
            follow(api, played, patience)


def test_a_refusal_of_pods_that_are_there_by_now_counts_no_more(api: Api, played: Played) -> None:
    with Refused(api, Ray(starting=1.5)) as operator:
        operator.later = True
        played.publish()
        follow(api, played, QUICK)
    assert "forbidden" not in played.output.split("the Ray cluster starts")[-1]


def test_a_job_of_a_cancelled_run_that_is_still_going_is_waited_for(api: Api, played: Played) -> None:
    """Adopted, it would vanish under the step."""
    entry = entrypoint(played.asked.store_url, f"{PLACE}/request.json")
    body = rayjob(training(played.asked.experiment), IDENTITY, entry)
    body["metadata"]["finalizers"] = ["ray.io/rayjob-finalizer"]
    old = api.cluster().create(RAY_JOBS, body)
    api.cluster().delete(RAY_JOBS, BASE)
    with RayOperator(api):
        step = InThread(api, played)
        wait_for(lambda: "is being deleted; waiting until it is gone" in played.output)

        def let_go(now: Object) -> Object:
            now["metadata"]["finalizers"] = [
                each for each in now["metadata"].get("finalizers", ()) if not each.startswith("ray.io")
            ]
            return now

        api.cluster().edit(RAY_JOBS, BASE, let_go)
        played.publish()
        step.result()
    [new] = api.cluster().list(RAY_JOBS)
    assert new["metadata"]["uid"] != old["metadata"]["uid"]
    assert "deleted by somebody else" not in played.output


def test_a_job_that_no_list_shows_and_that_cannot_be_made_is_told(
    double: Api, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_UNCLEAR", 5)
    double.faults.add("^create .*rayjobs", times=1000, status=409, reason="AlreadyExists")
    with pytest.raises(AlreadyExistsError, match="create refused"):
        follow(double, played)
    assert jobs(double) == []


def test_a_job_that_is_for_ever_being_deleted_in_lists_alone_is_told(
    double: Api, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an old cache in front of the server tells it."""
    entry = entrypoint(played.asked.store_url, f"{PLACE}/request.json")
    body = rayjob(training(played.asked.experiment), IDENTITY, entry)
    stale = double.cluster().create(RAY_JOBS, body)
    double.cluster().delete(RAY_JOBS, BASE)
    stale["metadata"]["deletionTimestamp"] = stale["metadata"]["creationTimestamp"]
    monkeypatch.setattr(attempts, "_UNCLEAR", 5)
    monkeypatch.setattr(attempts.AttemptLog, "_jobs", lambda _: {0: stale})
    with pytest.raises(StepError, match="goes and is there again, 6 times"):
        follow(double, played)
