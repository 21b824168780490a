"""An API server that is not what it seems: a proxy's page, another shape of JSON, a body that never ends."""

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from real_api import write_kubeconfig

from components.kube.cluster import Cluster
from components.kube.errors import KubeError, UnreachableError
from components.kube.kinds import PODS

EMPTY = b'{"metadata": {"resourceVersion": "1"}, "items": []}'
ANSWERS = {
    "page": b"<html>sign in</html>",
    "list": b"[]",
    "nothing": b"",
    "object": b"{}",
    "items are a number": b'{"metadata": {"resourceVersion": "1"}, "items": 7}',
    "items are null": b'{"metadata": {"resourceVersion": "1"}, "items": null}',
    "an item is a number": b'{"metadata": {"resourceVersion": "1"}, "items": [3]}',
    "an item without a name": b'{"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {}}]}',
    "a Status": b'{"kind": "Status", "status": "Failure"}',
    "deep": b"[" * 100_000,
    "binary": b"\xff\xfe",
}
CHANGES = {
    "a number": b"7\n",
    "a list": b"[]\n",
    "no type": b"{}\n",
    "no object": b'{"type": "ADDED"}\n',
    "null": b'{"type": "MODIFIED", "object": null}\n',
    "binary": b"\xff\xfe\n",
    "deep": b"[" * 100_000 + b"\n",
    "a bookmark": b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}}\n',
}
ASKS: dict[str, Callable[[Cluster], object]] = {
    "get": lambda cluster: cluster.get(PODS, "a"),
    "list": lambda cluster: cluster.list(PODS),
    "events": lambda cluster: cluster.events("u"),
    "create": lambda cluster: cluster.create(PODS, {"metadata": {"name": "a"}}),
    "edit": lambda cluster: cluster.edit(PODS, "a", lambda body: body),
    "watch": lambda cluster: next(cluster.watch(PODS, "a")),
}


class Liar:
    """Answers every request with one body; watches with another. Without a body it sends a byte now and then."""

    def __init__(self) -> None:
        self.answer: bytes | None = EMPTY
        self.change: bytes | None = b""
        self.status = 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                body = outer.change if "watch=true" in self.path else outer.answer
                self.send_response(outer.status)
                self.send_header("Content-Length", str(10**6 if body is None else len(body)))
                self.end_headers()
                try:
                    if body is not None:
                        self.wfile.write(body)
                    for _ in range(200 if body is None else 0):
                        self.wfile.write(b" ")
                        time.sleep(0.1)
                except OSError:
                    pass

            do_POST = do_PUT = do_GET  # noqa: N815  http.server's names

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def liar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Liar]:
    found = Liar()
    write_kubeconfig(tmp_path / "kubeconfig", found.url, "n", "token")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    yield found
    found.close()


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("ask", ASKS)
def test_what_is_no_object_is_told(liar: Liar, answer: str, ask: str) -> None:
    liar.answer = ANSWERS[answer]
    with pytest.raises(KubeError, match="no Kubernetes object"):
        ASKS[ask](Cluster.connect("n", patience=2.0))


@pytest.mark.parametrize("details", ['"x"', "[]", "7"])
def test_details_of_another_shape_are_none(liar: Liar, details: str) -> None:
    liar.status, liar.answer = 404, f'{{"kind": "Status", "details": {details}}}'.encode()
    with pytest.raises(KubeError, match="does not know pods"):
        Cluster.connect("n", patience=2.0).get(PODS, "a")


@pytest.mark.parametrize("change", CHANGES)
def test_a_watch_that_says_nothing_sensible_is_asked_anew(liar: Liar, change: str) -> None:
    liar.change = CHANGES[change]
    assert list(islice(Cluster.connect("n").watch(PODS, "a", poll=0.3), 3)) == [None, None, None]


def test_an_answer_without_an_end_is_none(liar: Liar) -> None:
    liar.answer = None
    with pytest.raises(UnreachableError, match="no end"):
        Cluster.connect("n", patience=1.0).get(PODS, "a")


def test_a_watch_that_drips_is_left_in_time(liar: Liar) -> None:
    liar.change = None
    assert list(islice(Cluster.connect("n").watch(PODS, "a", poll=0.5), 3)) == [None, None, None]


@pytest.mark.parametrize("moment", ['"soon"', "7", "{}"])
def test_an_event_of_another_shape_is_told(liar: Liar, moment: str) -> None:
    event = json.loads(f'{{"metadata": {{"name": "e"}}, "lastTimestamp": {moment}}}')
    liar.answer = json.dumps({"metadata": {"resourceVersion": "1"}, "items": [event]}).encode()
    with pytest.raises(KubeError, match="no Kubernetes object"):
        Cluster.connect("n", patience=2.0).events("u")


@pytest.mark.parametrize("token", ["first\nHUSH", "HÜSH–HUSH"])
def test_a_token_that_no_header_takes_is_not_shown(
    liar: Liar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    write_kubeconfig(tmp_path / "other", liar.url, "n", token)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "other"))
    with pytest.raises(KubeError, match="no HTTP header takes") as caught:
        Cluster.connect("n", patience=2.0).get(PODS, "a")
    assert "HUSH" not in str(caught.value)
