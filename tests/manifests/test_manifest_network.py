"""What the network policies let through, as the sum over all that select a pod."""

import ipaddress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifest_objects import ALL, Object, objects, of_kind, selects

STEP = {"pipelines.kubeflow.org/v2_component": "true", "gavel.dev/step": "score"}
DRIVER = {"pipelines.kubeflow.org/v2_component": "true"}
TRAINER = {"ray.io/is-ray-node": "yes", "ray.io/cluster": "a-b1c2d", "app.kubernetes.io/name": "kuberay"}
SUBMITTER = {"ray.io/originated-from-crd": "RayJob", "ray.io/originated-from-cr-name": "a"}
JUDGE = {"serving.kserve.io/inferenceservice": "qwen3-32b-1234", "gavel.dev/judge": "qwen3-32b"}
STORE = {"gavel.dev/role": "store"}
BUCKET = {"gavel.dev/role": "bucket"}
SWEEPER = {"gavel.dev/role": "sweeper"}
OPERATOR = {"app.kubernetes.io/name": "kuberay-operator", "app.kubernetes.io/component": "kuberay-operator"}
DNS = {"k8s-app": "kube-dns"}
STRANGER = {"app": "something"}

Pod = tuple[str, dict[str, str]]


def gavel(labels: dict[str, str]) -> Pod:
    return "gavel", labels


def _peer(peer: Object, home: str, pod: Pod) -> bool:
    if "ipBlock" in peer:
        return False
    space, labels = pod
    if "namespaceSelector" in peer:
        if not selects(peer["namespaceSelector"], {"kubernetes.io/metadata.name": space}):
            return False
    elif space != home:
        return False
    return selects(peer.get("podSelector", {}), labels)


def _side(policies: list[Object], direction: str, pod: Pod, other: Pod, port: int | str) -> bool:
    """Whether one side lets it through: True also where no policy selects the pod."""
    mine = [
        item
        for item in policies
        if item["metadata"]["namespace"] == pod[0]
        and selects(item["spec"]["podSelector"], pod[1])
        and direction.capitalize() in item["spec"]["policyTypes"]
    ]
    if not mine:
        return True
    key = "from" if direction == "ingress" else "to"
    for policy in mine:
        for rule in policy["spec"].get(direction) or ():
            peers, ports = rule.get(key), rule.get("ports")
            if (peers is None or any(_peer(peer, pod[0], other) for peer in peers)) and (
                ports is None or any(item["port"] == port for item in ports)
            ):
                return True
    return False


def reaches(overlay: str, source: Pod, target: Pod, port: int | str) -> bool:
    policies = of_kind(overlay, "NetworkPolicy")
    return _side(policies, "egress", source, target, port) and _side(policies, "ingress", target, source, port)


def blocks(overlay: str, labels: dict[str, str]) -> list[tuple[str, Any]]:
    """Addresses that a pod may ask, with their ports."""
    return [
        (peer["ipBlock"]["cidr"], {item["port"] for item in rule.get("ports") or ()})
        for policy in of_kind(overlay, "NetworkPolicy")
        if policy["metadata"]["namespace"] == "gavel" and selects(policy["spec"]["podSelector"], labels)
        for rule in policy["spec"].get("egress") or ()
        for peer in rule.get("to") or ()
        if "ipBlock" in peer
    ]


@pytest.mark.parametrize("overlay", ALL)
def test_without_a_rule_nothing_passes(overlay: str) -> None:
    for source in (STRANGER, STEP, TRAINER, JUDGE):
        assert not reaches(overlay, gavel(source), gavel(STRANGER), 80)
        assert not reaches(overlay, gavel(STRANGER), gavel(source), 80)
    assert not reaches(overlay, ("default", STRANGER), gavel(JUDGE), 8080)
    assert not reaches(overlay, ("default", STRANGER), gavel(TRAINER), 6379)


@pytest.mark.parametrize("overlay", ["dev", "h800", "seaweedfs"])
def test_judges_answer_steps_and_trainers_alone(overlay: str) -> None:
    assert reaches(overlay, gavel(STEP), gavel(JUDGE), 8080)
    assert reaches(overlay, gavel(TRAINER), gavel(JUDGE), 8080)
    for other in (STORE, SUBMITTER, BUCKET, SWEEPER, DRIVER, JUDGE):
        assert not reaches(overlay, gavel(other), gavel(JUDGE), 8080)
    assert not reaches(overlay, gavel(STEP), gavel(JUDGE), 22)


@pytest.mark.parametrize("overlay", ["dev", "h800", "seaweedfs"])
def test_the_store_answers_steps_trainers_judges_and_the_bucket_job_alone(overlay: str) -> None:
    for user in (STEP, TRAINER, JUDGE, BUCKET):
        assert reaches(overlay, gavel(user), gavel(STORE), "s3")
    for other in (SUBMITTER, SWEEPER, DRIVER, STRANGER):
        assert not reaches(overlay, gavel(other), gavel(STORE), "s3")
    for target in (STEP, TRAINER, JUDGE, DNS):
        assert not reaches(overlay, gavel(STORE), gavel(target), 443)


@pytest.mark.parametrize("overlay", ["dev", "h800"])
def test_runs_in_the_namespace_of_a_standalone_kfp_reach_judges_and_store(overlay: str) -> None:
    for target, port in ((JUDGE, 8080), (STORE, "s3")):
        assert reaches(overlay, ("kubeflow", STEP), gavel(target), port)
        # Pipelines of others in that namespace are no steps of ours.
        assert not reaches(overlay, ("kubeflow", DRIVER), gavel(target), port)
        assert not reaches(overlay, ("elsewhere", STEP), gavel(target), port)


@pytest.mark.parametrize("overlay", ALL)
def test_a_trainer_reaches_ray_judges_store_and_names_and_no_other_pod(overlay: str) -> None:
    assert reaches(overlay, gavel(TRAINER), gavel(TRAINER), 6379)
    assert reaches(overlay, gavel(TRAINER), ("kube-system", DNS), 53)
    for target in (STEP, SUBMITTER, SWEEPER, BUCKET, STRANGER):
        for port in (80, 443, 8080, 6443):
            assert not reaches(overlay, gavel(TRAINER), gavel(target), port)
    assert not reaches(overlay, gavel(TRAINER), ("kubeflow", STRANGER), 8888)
    assert not reaches(overlay, gavel(TRAINER), ("kube-system", STRANGER), 443)


@pytest.mark.parametrize("overlay", ALL)
def test_a_trainers_way_to_addresses_is_the_internet_on_443_at_most(overlay: str) -> None:
    # 10.96.0.1 is where most clusters have the API server; the others are its usual neighbours.
    shut = [ipaddress.ip_address(text) for text in ("10.96.0.1", "172.18.0.2", "192.168.1.10", "169.254.169.254")]
    for labels in (TRAINER, JUDGE, STEP, SUBMITTER):
        for cidr, ports in blocks(overlay, labels):
            if cidr in ("169.254.20.10/32", "192.0.2.1/32"):
                continue
            assert (cidr, ports) == ("0.0.0.0/0", {443})
    for policy in of_kind(overlay, "NetworkPolicy"):
        for rule in policy["spec"].get("egress") or ():
            for peer in rule.get("to") or ():
                if peer.get("ipBlock", {}).get("cidr") == "0.0.0.0/0":
                    walls = [ipaddress.ip_network(text) for text in peer["ipBlock"]["except"]]
                    assert all(any(address in wall for wall in walls) for address in shut)


def test_without_external_judges_a_trainer_asks_no_address_but_the_name_server() -> None:
    for overlay in ("seaweedfs", "bare"):
        assert [cidr for cidr, _ in blocks(overlay, TRAINER)] == ["169.254.20.10/32"]


@pytest.mark.parametrize("overlay", ALL)
def test_only_runs_and_the_sweeper_may_ask_the_api_server(overlay: str) -> None:
    filled = [
        item
        for item in of_kind(overlay, "NetworkPolicy")
        if item["metadata"].get("annotations", {}).get("gavel.dev/fill") == "api-server"
    ]
    may = [
        labels
        for labels in (STEP, DRIVER, SWEEPER, TRAINER, SUBMITTER, JUDGE, STORE, BUCKET)
        if any(selects(item["spec"]["podSelector"], labels) for item in filled)
    ]
    assert may == [STEP, DRIVER, SWEEPER]


@pytest.mark.parametrize("overlay", ALL)
def test_ray_is_asked_from_outside_only_by_its_operator_and_the_submitter(overlay: str) -> None:
    assert reaches(overlay, ("kuberay-system", OPERATOR), gavel(TRAINER), 8265)
    assert reaches(overlay, gavel(SUBMITTER), gavel(TRAINER), 8265)
    assert not reaches(overlay, ("kuberay-system", STRANGER), gavel(TRAINER), 8265)
    assert not reaches(overlay, gavel(STEP), gavel(TRAINER), 8265)
    for source in (("kuberay-system", OPERATOR), gavel(SUBMITTER)):
        assert not reaches(overlay, source, gavel(TRAINER), 6379)


LABELS = {
    key: value
    for labels in (STEP, TRAINER, SUBMITTER, JUDGE, STORE, BUCKET, SWEEPER, OPERATOR, DNS)
    for key, value in labels.items()
}


@pytest.mark.parametrize("overlay", ALL)
@settings(max_examples=60, deadline=None)
@given(others=st.sets(st.sampled_from(sorted(LABELS))), role=st.sampled_from(["store", "bucket", "sweeper"]))
def test_a_sandbox_reaches_nothing_whatever_other_labels_it_carries(overlay: str, others: set[str], role: str) -> None:
    labels = {**{key: LABELS[key] for key in others}, "gavel.dev/sandbox": "rules"}
    if "gavel.dev/role" in others:
        labels["gavel.dev/role"] = role
    selecting = [
        item
        for item in of_kind(overlay, "NetworkPolicy")
        if item["metadata"]["namespace"] == "gavel" and selects(item["spec"]["podSelector"], labels)
    ]
    assert {item["metadata"]["name"] for item in selecting} == {"gavel-default-deny", "gavel-sandbox"}
    for item in selecting:
        assert set(item["spec"]["policyTypes"]) == {"Ingress", "Egress"}
        assert not item["spec"].get("egress")
        assert not item["spec"].get("ingress")


@pytest.mark.parametrize("overlay", ALL)
def test_default_deny_is_over_every_pod_of_the_namespace(overlay: str) -> None:
    (deny,) = [item for item in objects(overlay) if item["metadata"]["name"] == "gavel-default-deny"]
    assert deny["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
