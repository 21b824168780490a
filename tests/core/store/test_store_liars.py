"""An endpoint that says that all is well and is no S3 server; settings that no request can carry."""

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from components.core.errors import StorageError
from components.core.store import Store

LISTING = (
    b'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>'
    b"<IsTruncated>false</IsTruncated><MaxKeys>1</MaxKeys></ListBucketResult>"
)
PAGES = {
    "page": (b"<!doctype html><html><body>sign in<br>", {}),
    "page that is XML": (b"<html><body>sign in</body></html>", {}),
    "nothing": (b"", {}),
    "a date": (b"", {"Last-Modified": "whenever", "ETag": '"x"'}),
}


class Handler(http.server.BaseHTTPRequestHandler):
    """Lists an empty bucket, and answers the rest with one page."""

    body: bytes = b""
    headers_too: ClassVar[dict[str, str]] = {}
    lists = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        listed = self.lists and self.command == "GET" and "list-type" in self.path
        body = LISTING if listed else self.body
        self.send_response(200)
        for key, value in self.headers_too.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_PUT = do_POST = do_HEAD = do_DELETE = do_GET  # noqa: N815  http.server's names


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Handler]]:
    class Own(Handler):
        pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Own)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "value")
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    for name in ("AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    yield Own
    server.shutdown()
    server.server_close()


def small(store: Store, folder: Path) -> object:
    (folder / "a").write_bytes(b"a")
    return store.upload(folder, "x")


def large(store: Store, folder: Path) -> object:
    (folder / "a").write_bytes(b"a" * (9 << 20))
    return store.upload(folder, "x")


WAYS: dict[str, Callable[[Store, Path], object]] = {
    "exists": lambda store, _: store.exists("a"),
    "read": lambda store, _: store.read_bytes("a"),
    "write": lambda store, _: store.write_bytes("a", b"x"),
    "upload": small,
    "upload in parts": large,
}


@pytest.mark.parametrize("page", ["page", "page that is XML", "nothing"])
@pytest.mark.parametrize("way", WAYS)
def test_a_page_is_no_object_and_storing_nothing_is_no_success(
    handler: type[Handler], tmp_path: Path, page: str, way: str
) -> None:
    handler.body, handler.headers_too = PAGES[page]
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(StorageError, match="no S3 server"):
        WAYS[way](Store.open("s3://bucket/x"), folder)


def test_what_cannot_be_read_is_told(handler: type[Handler]) -> None:
    store = Store.open("s3://bucket/x")
    handler.body, handler.headers_too = PAGES["a date"]
    with pytest.raises(StorageError, match="cannot be read"):
        store.exists("a")
    handler.lists, handler.body, handler.headers_too = False, *PAGES["page that is XML"]
    with pytest.raises(StorageError, match="no S3 server"):
        Store.open("s3://bucket/x")


@pytest.mark.parametrize("variable", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"])
@pytest.mark.parametrize("value", ["HUSH\n", "a\nHUSH", "HÜSH–HUSH", "HUSH HUSH"])
def test_credentials_that_no_header_takes_are_not_shown(
    handler: type[Handler], monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(StorageError) as caught:
        Store.open("s3://bucket/x")
    assert caught.value.where == variable
    assert "HUSH" not in str(caught.value)


@pytest.mark.parametrize("endpoint", ["http://[::1", "http://host:99999", "http://host:port"])
def test_an_endpoint_that_is_no_url_is_told(
    handler: type[Handler], monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", endpoint)
    with pytest.raises(StorageError, match="not an endpoint"):
        Store.open("s3://bucket/x")


@pytest.mark.parametrize("url", ["s3://[bucket/x", "s3://bu..cket/x", "s3://192.168.1.1/x"])
def test_a_url_without_a_bucket_is_told(handler: type[Handler], url: str) -> None:
    with pytest.raises(StorageError):
        Store.open(url)
