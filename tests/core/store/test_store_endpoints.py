"""Wrong endpoints: each is told apart, in bounded time."""

import contextlib
import http.server
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from minio.error import S3Error

from components.core.errors import StorageError
from components.core.services.ports import free_ports
from components.core.store import Store, s3_client
from components.core.store.s3_errors import Place, s3_errors

Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "value")
    monkeypatch.delenv("AWS_REGION", raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def log_message(self, *arguments: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def reply(status: int, kind: str, body: bytes) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def xml(code: str, message: str) -> bytes:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()


def failure(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> StorageError:
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", endpoint)
    with pytest.raises(StorageError) as caught:
        Store.open("s3://bucket/x")
    return caught.value


def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    error = failure(monkeypatch, endpoint)
    assert "nothing listens" in error.what
    assert endpoint in error.where
    assert "GAVEL_S3_ENDPOINT" in error.remedy


def test_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # With the real limits this takes 12 seconds; the sum that a dead endpoint may cost is checked instead.
    worst = 2 * (s3_client._CONNECT_SECONDS + s3_client._CHECK_READ_SECONDS)
    assert worst < 20
    assert 2 * max(s3_client._CONNECT_SECONDS, s3_client._CHECK_READ_SECONDS) < 15
    monkeypatch.setattr(s3_client, "_CHECK_READ_SECONDS", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        error = failure(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert "no answer came in time" in error.what


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"])
def test_a_server_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    """Each byte comes well within the limit of one read; header or body have no end."""
    monkeypatch.setattr(s3_client, "_CHECK_SECONDS", 1.0)
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            connection.sendall(head)
            while not over.wait(0.05):
                connection.sendall(b"<" if head else b"H")

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=drip, args=(connection,), daemon=True).start()

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        threading.Thread(target=serve, daemon=True).start()
        try:
            error = failure(monkeypatch, f"http://127.0.0.1:{server.getsockname()[1]}")
        finally:
            over.set()
    assert "answers too slowly" in error.what
    assert "s3://bucket" in error.where
    assert "GAVEL_S3_ENDPOINT" in error.remedy


@pytest.mark.parametrize("status", [200, 404])
def test_web_page_is_no_s3(monkeypatch: pytest.MonkeyPatch, serve: Callable[[Answer], str], status: int) -> None:
    error = failure(monkeypatch, serve(reply(status, "text/html", b"<html><body>hello<br></body></html>")))
    assert "no S3 server" in error.what


def test_http_to_an_https_server(monkeypatch: pytest.MonkeyPatch, serve: Callable[[Answer], str]) -> None:
    # What Go's servers (MinIO, SeaweedFS) say on their TLS port.
    body = b"Client sent an HTTP request to an HTTPS server.\n"
    error = failure(monkeypatch, serve(reply(400, "text/plain", body)))
    assert "https only" in error.what
    assert "https://" in error.remedy


def test_https_to_an_http_server(monkeypatch: pytest.MonkeyPatch, serve: Callable[[Answer], str]) -> None:
    error = failure(monkeypatch, serve(reply(200, "text/html", b"")).replace("http:", "https:"))
    assert "does not speak https" in error.what


def test_server_that_breaks_off(monkeypatch: pytest.MonkeyPatch, serve: Callable[[Answer], str]) -> None:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.connection.shutdown(socket.SHUT_RDWR)

    assert "broke off" in failure(monkeypatch, serve(answer)).what


@pytest.mark.parametrize(
    ("status", "code", "message", "expected"),
    [
        (404, "NoSuchBucket", "", "no such bucket"),
        (403, "InvalidAccessKeyId", "", "wrong access key"),
        (403, "SignatureDoesNotMatch", "", "wrong secret key"),
        (403, "AccessDenied", "", "access denied"),
        (400, "AuthorizationHeaderMalformed", "expecting eu-central-1", "wrong region: expecting eu-central-1"),
        (507, "XMinioStorageFull", "Storage backend has reached its minimum free drive threshold", "full"),
        (403, "QuotaExceeded", "bucket quota", "quota used up"),
        (403, "RequestTimeTooSkewed", "", "RequestTimeTooSkewed"),
        (418, "Odd", "something new", "Odd: something new"),
    ],
)
def test_codes(
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[[Answer], str],
    status: int,
    code: str,
    message: str,
    expected: str,
) -> None:
    error = failure(monkeypatch, serve(reply(status, "application/xml", xml(code, message))))
    assert expected in error.what


def test_server_error_is_tried_again_and_then_told(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[[Answer], str]
) -> None:
    calls: list[float] = []

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        calls.append(time.monotonic())
        reply(500, "application/xml", xml("InternalError", "no space left on device"))(handler)

    error = failure(monkeypatch, serve(answer))
    assert "full" in error.what
    assert len(calls) == 2


def test_embedded_server_out_of_disk_says_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.core.store.s3_errors.free_bytes", lambda path: 5_000_000)
    monkeypatch.setattr("components.core.store.disk.free_bytes", lambda path: 5_000_000)
    refused = S3Error(urllib3.HTTPResponse(status=500), "InternalError", "try again", "/x", "1", "h")
    place = Place("http://127.0.0.1:1", "s3://b/x", size=100_000_000, disk=Path("/data"))
    with pytest.raises(StorageError, match=r"the disk is full: .* needed, 5 MB free") as caught, s3_errors(place):
        raise refused
    assert caught.value.where == "/data"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (urllib3.exceptions.NameResolutionError("h", object(), OSError()), "no such host"),
        (urllib3.exceptions.SSLError(ssl.SSLCertVerificationError("certificate verify failed")), "not trusted"),
        (urllib3.exceptions.ConnectTimeoutError(object(), "timed out"), "attempt to connect"),
    ],
)
def test_failures_of_the_line(reason: Exception, expected: str) -> None:
    pool: Any = None
    with pytest.raises(StorageError, match=expected), s3_errors(Place("https://h", "s3://b")):
        raise urllib3.exceptions.MaxRetryError(pool, "/", reason)


@pytest.mark.parametrize("endpoint", ["localhost:9000", "ftp://h", "http://", "http://h/path"])
def test_endpoint_that_is_no_url(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    error = failure(monkeypatch, endpoint)
    assert "not an endpoint" in error.what


def test_missing_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAVEL_S3_ENDPOINT", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StorageError, match="GAVEL_S3_ENDPOINT and AWS_SECRET_ACCESS_KEY"):
        Store.open("s3://bucket")


@pytest.mark.parametrize("user", ["user:hidden", "user:hidden/x", "user:x/hidden", "hidden", "user:[hidden"])
def test_endpoint_with_credentials_is_refused_without_printing_them(monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    error = failure(monkeypatch, f"http://{user}@127.0.0.1:9000")
    assert "must not hold credentials" in error.what
    assert "hidden" not in str(error)
