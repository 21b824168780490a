"""What the client does when the API server fails it."""

import datetime
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest
from kube_fixture import Api
from test_kube_cluster import config_map, ray_job

from components.kube.cluster import Cluster
from components.kube.errors import AlreadyExistsError, ConflictError, ForbiddenError, KubeError, UnreachableError
from components.kube.kinds import CONFIG_MAPS, RAY_JOBS

Object = dict[str, Any]


def counter(count: int) -> Object:
    return config_map(count=str(count))


def follow(double: Api, changes: int, *, poll: float = 0.5, patience: float = 20.0) -> list[int]:
    """What a watch shows while the object counts to ``changes``."""
    cluster = double.cluster(patience)
    cluster.apply(CONFIG_MAPS, counter(0))
    seen: list[int] = []

    def act() -> None:
        writer = double.cluster()
        for count in range(1, changes + 1):
            time.sleep(0.05)
            writer.apply(CONFIG_MAPS, counter(count))

    thread = threading.Thread(target=act)
    thread.start()
    for found, _ in zip(cluster.watch(CONFIG_MAPS, "one", poll=poll), range(200), strict=False):
        assert found is not None
        seen.append(int(found["data"]["count"]))
        if seen[-1] == changes:
            break
    thread.join()
    return seen


@pytest.mark.parametrize(
    "fault",
    [
        {"drop_after": 1},
        {"drop_seconds": 0.02},
        {"hang": True},
        {"reset": True},
        {"status": 410},
        {"status": 429, "retry_after": 1},
        {"status": 500},
        {"status": 503},
    ],
    ids=str,
)
def test_a_watch_that_fails_again_and_again_misses_nothing_in_the_end(double: Api, fault: dict[str, Any]) -> None:
    double.faults.add("^watch", times=5, **fault)
    seen = follow(double, 6)
    assert seen == sorted(seen)
    assert seen[-1] == 6


def test_a_watch_goes_on_after_the_history_was_compacted(double: Api) -> None:
    cluster = double.cluster()
    cluster.apply(CONFIG_MAPS, counter(0))
    watching = cluster.watch(CONFIG_MAPS, "one", poll=0.3)
    next(watching)
    assert double.double is not None
    with double.double.store.changed:
        double.double.compact()
        double.double.store.apply(CONFIG_MAPS, double.namespace, "one", whole(counter(1)), "test", True, False)
        double.double.compact()
    found = next(watching)
    assert found is not None
    assert found["data"] == {"count": "1"}


def test_a_watch_that_is_closed_at_once_is_not_opened_without_pause(double: Api) -> None:
    double.faults.add("^watch", times=1000, drop_seconds=0.0)
    watching = double.cluster().watch(CONFIG_MAPS, "one", poll=60)
    next(watching)
    thread = threading.Thread(target=lambda: next(watching), daemon=True)
    thread.start()
    thread.join(2.0)
    assert double.double is not None
    assert sum(line.startswith("watch") for line in double.double.requests) <= 8


def test_a_watch_is_told_that_it_may_not(double: Api) -> None:
    double.allow([{"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]}])
    double.use("nobody")
    watching = double.cluster().watch(CONFIG_MAPS, "one")
    assert next(watching) is None
    with pytest.raises(ForbiddenError, match="may not watch configmaps"):
        next(watching)


def whole(body: Object) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", **body}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_burst_of_failures_is_outlived(double: Api, status: int) -> None:
    double.faults.add("^create configmaps|^create .*configmaps", times=3, status=status)
    assert double.cluster().create(CONFIG_MAPS, config_map())["metadata"]["name"] == "one"


def test_retry_after_is_heeded(double: Api) -> None:
    double.faults.add("^get", status=429, retry_after=2)
    begun = time.monotonic()
    assert double.cluster().get(CONFIG_MAPS, "one") is None
    assert time.monotonic() - begun >= 2.0


def test_overload_without_end_is_an_error_in_bounded_time(double: Api) -> None:
    double.faults.add("^get", times=1000, status=429, retry_after=1)
    with pytest.raises(UnreachableError, match="answers 429") as error:
        double.cluster(patience=2.0).get(CONFIG_MAPS, "one")
    assert error.value.status == 429


def test_a_wait_longer_than_the_patience_is_not_begun(double: Api) -> None:
    double.faults.add("^get", status=429, retry_after=3600)
    with pytest.raises(UnreachableError, match="429"):
        double.cluster(patience=5.0).get(CONFIG_MAPS, "one")


@pytest.mark.parametrize("verb", ["get", "list", "create", "patch", "delete"])
def test_an_answer_lost_on_its_way_is_asked_for_again(double: Api, verb: str) -> None:
    cluster = double.cluster()
    if verb != "create":
        cluster.create(CONFIG_MAPS, config_map(x="1"))
    double.faults.add(f"^{verb} ", lost=True)
    if verb == "create":
        with pytest.raises(AlreadyExistsError):
            cluster.create(CONFIG_MAPS, config_map(x="1"))
    elif verb == "patch":
        assert cluster.apply(CONFIG_MAPS, config_map(x="2"))["data"] == {"x": "2"}
    elif verb == "delete":
        cluster.delete(CONFIG_MAPS, "one")
    else:
        assert [item["data"] for item in cluster.list(CONFIG_MAPS, {"a": "one"})] == [{"x": "1"}]
        assert cluster.get(CONFIG_MAPS, "one") is not None
    assert (cluster.get(CONFIG_MAPS, "one") is None) == (verb == "delete")


def test_a_conflict_is_read_again_and_settled(double: Api) -> None:
    cluster = double.cluster()
    cluster.create(CONFIG_MAPS, counter(0))
    double.faults.add("^update", times=4, status=409)
    edited = cluster.edit(CONFIG_MAPS, "one", lambda body: {**body, "data": {"count": "1"}})
    assert edited is not None
    assert edited["data"] == {"count": "1"}


def test_conflicts_without_end_are_an_error_in_bounded_time(double: Api) -> None:
    cluster = double.cluster(patience=1.5)
    cluster.create(CONFIG_MAPS, counter(0))
    double.faults.add("^update", times=1000, status=409)
    with pytest.raises(ConflictError):
        cluster.edit(CONFIG_MAPS, "one", lambda body: {**body, "data": {"count": "1"}})


def test_a_server_that_goes_and_comes_back_is_waited_for(double: Api) -> None:
    cluster = double.cluster()
    cluster.create(RAY_JOBS, ray_job())
    assert double.double is not None
    watching = cluster.watch(RAY_JOBS, "job", poll=0.3)
    next(watching)
    server = double.double
    server.stop()
    back = threading.Timer(1.5, server.start)
    back.start()
    found = next(watching)
    back.join()
    assert found is not None
    assert found["metadata"]["name"] == "job"
    server.stop()
    again = threading.Timer(1.0, server.start)
    again.start()
    assert cluster.get(RAY_JOBS, "job") is not None
    again.join()


def test_a_server_gone_for_good_is_named_in_bounded_time(double: Api) -> None:
    cluster = double.cluster(patience=1.0)
    watching = cluster.watch(CONFIG_MAPS, "one", poll=0.2)
    next(watching)
    assert double.double is not None
    double.double.stop()
    for attempt in (lambda: next(watching), lambda: cluster.get(CONFIG_MAPS, "one")):
        with pytest.raises(UnreachableError) as error:
            attempt()
        assert double.double.url in error.value.where
        assert error.value.status == 0


def test_a_server_that_accepts_and_never_answers_does_not_hold_us(double: Api) -> None:
    double.faults.add("^get", times=1000, delay=30.0)
    with pytest.raises(UnreachableError, match="does not answer"):
        double.cluster(patience=1.0).get(CONFIG_MAPS, "one")


def test_a_slow_answer_is_waited_for(double: Api) -> None:
    double.faults.add("^get", delay=1.0)
    assert double.cluster().get(CONFIG_MAPS, "one") is None


def test_a_refusal_by_admission_is_not_called_a_missing_right(double: Api) -> None:
    double.faults.add("^create", status=403)
    with pytest.raises(ForbiddenError, match="fault 403 of the test") as error:
        double.cluster().create(CONFIG_MAPS, config_map())
    assert "Role" not in error.value.remedy


def test_a_later_kubeconfig_counts(double: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert double.cluster().server == double.server.url
    other = tmp_path / "other"
    other.write_text(double.kubeconfig.read_text().replace(double.server.url, "http://127.0.0.1:9"))
    monkeypatch.setenv("KUBECONFIG", str(other))
    assert Cluster.connect().server == "http://127.0.0.1:9"
    assert Cluster.connect().namespace == double.namespace


@pytest.mark.parametrize(
    "content", [None, "", "{", "- a\n- b\n", "clusters: 3\n", '{"current-context": "gone", "contexts": []}', "\x00"]
)
def test_a_bad_kubeconfig_is_an_error_that_names_it(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kubeconfig"
    if content is not None:
        file.write_text(content)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(KubeError) as error:
        Cluster.connect()
    assert error.value.where == str(file)
    assert "KUBECONFIG" in error.value.remedy


def test_an_answer_that_is_not_kubernetes_is_an_error(double: Api, tmp_path: Path) -> None:
    import http.server

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>proxy</html>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "proxy"
    file.write_text(double.kubeconfig.read_text().replace(double.server.url, f"http://127.0.0.1:{server.server_port}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(file))
        with pytest.raises(KubeError, match="no Kubernetes object"):
            Cluster.connect().get(CONFIG_MAPS, "one")
    server.shutdown()
    server.server_close()


def test_in_a_pod_its_service_account_counts_and_its_token_is_read_anew(
    double: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import certifi
    from kubernetes.config import incluster_config

    from components.kube import connect

    (tmp_path / "token").write_text("first")
    (tmp_path / "namespace").write_text("gavel")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr(connect, "_ACCOUNT", tmp_path)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", certifi.where())
    # The client reads the token again after a minute; here at once.
    period = types.SimpleNamespace(datetime=datetime.datetime, timedelta=lambda **_: datetime.timedelta())
    monkeypatch.setattr(incluster_config, "datetime", period)
    found = connect.connection()
    assert (found.server, found.namespace) == ("https://10.0.0.1:443", "gavel")
    assert found.headers()["authorization"].lower() == "bearer first"
    (tmp_path / "token").write_text("second")
    assert found.headers()["authorization"].lower() == "bearer second"
