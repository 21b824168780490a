"""Leases are renewed while work goes on, and judges of runs that are gone are swept."""

import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kube_fixture import Api

sys.path.insert(0, str(Path(__file__).parents[1] / "kserve"))
from kserve_specs import cluster, judge, tiny

from components.judge.__main__ import main
from components.judge.kserve.inference_service import inference_service
from components.judge.kserve.lookup import services_of
from components.judge.leases.hold import take
from components.judge.leases.record import Lease, leases_of
from components.judge.leases.renewing import renewing
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]


def put(api: Api, spec: Any = None, *, who: str = "run-1", minutes: float = 60.0) -> Object:
    there = cluster(namespace=api.namespace).kubernetes
    assert there is not None
    expires = (datetime.now(UTC) + timedelta(minutes=minutes)).replace(microsecond=0)
    body = inference_service(spec or judge(), there, "arm")
    service, _ = take(api.cluster(), body, Lease(who, "arm", expires), told=print)
    return service


def expiry(api: Api, who: str = "run-1") -> datetime:
    [service] = services_of(api.cluster(), "qwen3-32b")
    leases = leases_of(service)
    assert leases is not None
    found = leases.of(who)
    assert found is not None
    return found.expires


def eventually(what: Any) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_leases_are_renewed_while_work_goes_on(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    put(api, minutes=1)
    before = expiry(api)
    with renewing([judge()], cluster(namespace=api.namespace), experiment="arm", every=0.2):
        eventually(lambda: expiry(api) > before + timedelta(minutes=300))
        at_work = expiry(api)
        eventually(lambda: expiry(api) > at_work)
    # It stays after the block: the next step needs the judge too.
    assert expiry(api) > datetime.now(UTC) + timedelta(minutes=350)


def test_a_server_that_is_away_is_told_and_tried_again(double: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    put(double, minutes=1)
    before, said = expiry(double), []
    double.faults.add("^update ", times=1, status=403)
    with renewing([judge()], cluster(namespace=double.namespace), told=said.append, every=0.1):
        eventually(lambda: expiry(double) > before)
    assert "the lease on judge qwen3-32b is not renewed yet" in said[0]


def test_a_judge_that_is_gone_fails_no_work(api: Api) -> None:
    said: list[str] = []
    with renewing([judge()], cluster(namespace=api.namespace), told=said.append, every=0.1):
        eventually(lambda: said)
    assert said[0] == "judge qwen3-32b is not deployed any more, so there is no lease to renew"


def test_judges_that_are_no_objects_have_no_leases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    said: list[str] = []
    with renewing([tiny(serving="embedded")], cluster(), told=said.append):
        pass
    assert said == []


def test_only_judges_of_runs_that_are_gone_are_swept(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    gone = put(api, tiny(), who="run-dead", minutes=-10)["metadata"]["name"]
    barely = put(api, tiny(name="skewed"), who="run-behind", minutes=-4)["metadata"]["name"]
    used = put(api, judge(), who="run-1")["metadata"]["name"]
    foreign = {"metadata": {"name": "theirs", "labels": {"app.kubernetes.io/managed-by": "gavel"}}}
    api.cluster().create(
        INFERENCE_SERVICES, {**foreign, "spec": {"predictor": {"model": {"modelFormat": {"name": "x"}}}}}
    )
    arguments = ["sweep", "--namespace", api.namespace]
    assert main([*arguments, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert f"{gone}: would be ended: its leases have expired (run-dead)" in said
    assert len(api.cluster().list(INFERENCE_SERVICES)) == 4
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert f"{gone}: ended" in said
    assert f"{used}: kept: run-1 (arm) until" in said
    assert "theirs: kept: it carries no leases" in said
    left = {service["metadata"]["name"] for service in api.cluster().list(INFERENCE_SERVICES)}
    assert left == {used, barely, "theirs"}
    assert main(arguments) == 0


def test_leases_that_nobody_can_read_are_reported_and_left(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    name = put(api)["metadata"]["name"]
    gone = put(api, tiny(), who="run-dead", minutes=-10)["metadata"]["name"]

    def spoil(body: Object) -> Object:
        body["metadata"]["annotations"]["gavel.dev/leases"] = "{"
        return body

    api.cluster().edit(INFERENCE_SERVICES, name, spoil)
    assert main(["sweep", "--namespace", api.namespace]) == 1
    streams = capsys.readouterr()
    assert f"{name}: not swept: its leases cannot be read" in streams.err
    assert f"{gone}: ended" in streams.out


def test_the_sweeper_needs_no_more_than_its_account_may(double: Api) -> None:
    """The verbs of manifests/base/rbac-sweeper.yaml."""
    put(double, tiny(), who="run-dead", minutes=-10)
    verbs = ["delete", "get", "list", "patch", "update"]
    double.allow([{"apiGroups": ["serving.kserve.io"], "resources": ["inferenceservices"], "verbs": verbs}])
    double.use("nobody")
    assert main(["sweep", "--namespace", double.namespace]) == 0
    double.use("admin")
    assert double.cluster().list(INFERENCE_SERVICES) == []
