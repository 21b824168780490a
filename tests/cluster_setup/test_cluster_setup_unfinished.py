"""The bucket's rule for unfinished uploads, on a real SeaweedFS and on servers that refuse or drop it."""

import http.server
import threading
from collections.abc import Callable, Iterator

import pytest
from minio import Minio
from minio.commonconfig import ENABLED, Filter
from minio.lifecycleconfig import AbortIncompleteMultipartUpload, Expiration, LifecycleConfig, Rule
from store_server import KEYS

from components.cluster_setup.unfinished import DAYS, RULE, end_unfinished
from components.core.errors import StorageError
from components.core.store.s3_client import S3Settings

# What MinIO answers to a rule with no other action: minio/minio issue 15681.
REFUSAL = b"<Error><Code>MalformedXML</Code><Message>not well-formed</Message></Error>"
NONE = b"<Error><Code>NoSuchLifecycleConfiguration</Code><Message>none</Message></Error>"


BUCKET = "gavel"


@pytest.fixture
def client(seaweedfs: str, monkeypatch: pytest.MonkeyPatch) -> Minio:
    for name, value in {**KEYS, "GAVEL_S3_ENDPOINT": seaweedfs}.items():
        monkeypatch.setenv(name, value)
    made = S3Settings.from_environment().client()
    made.make_bucket(BUCKET)
    return made


def rules(client: Minio) -> list[tuple[str | None, int | None]]:
    found = client.get_bucket_lifecycle(BUCKET)
    assert found is not None
    return [
        (rule.rule_id, action.days_after_initiation if (action := rule.abort_incomplete_multipart_upload) else None)
        for rule in found.rules
    ]


def told() -> str:
    return end_unfinished(S3Settings.from_environment(), BUCKET)


@pytest.mark.s3
def test_a_real_server_gets_the_rule_once_and_it_covers_every_name(client: Minio) -> None:
    assert told() == f"unfinished uploads end after {DAYS} days"
    assert "as the bucket's rules say" in told()
    assert rules(client) == [(RULE, DAYS)]
    found = client.get_bucket_lifecycle(BUCKET)
    assert found is not None
    (rule,) = found.rules
    assert rule.status == ENABLED
    assert rule.rule_filter is None or not rule.rule_filter.prefix


@pytest.mark.s3
def test_rules_of_somebody_else_stay(client: Minio) -> None:
    theirs = Rule(ENABLED, rule_filter=Filter(prefix="old/"), rule_id="theirs", expiration=Expiration(days=30))
    client.set_bucket_lifecycle(BUCKET, LifecycleConfig([theirs]))
    assert "rules of its own (theirs)" in told()
    assert rules(client) == [("theirs", None)]


@pytest.mark.s3
@pytest.mark.parametrize(("prefix", "enough"), [("", True), ("old/", False)])
def test_a_rule_of_somebody_else_for_all_uploads_is_enough(client: Minio, prefix: str, enough: bool) -> None:
    action = AbortIncompleteMultipartUpload(days_after_initiation=2)
    theirs = Rule(
        ENABLED, rule_filter=Filter(prefix=prefix), rule_id="theirs", abort_incomplete_multipart_upload=action
    )
    client.set_bucket_lifecycle(BUCKET, LifecycleConfig([theirs]))
    assert ("end after 2 days" in told()) == enough
    assert rules(client) == [("theirs", 2)]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, bytes], None]]:
    """A server without rules, which answers so when it is given one."""
    servers: list[http.server.HTTPServer] = []

    def start(status: int, body: bytes) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(404, NONE)

            def do_PUT(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(status, body)

            def answer(self, code: int, text: bytes) -> None:
                self.send_response(code)
                self.send_header("Content-Type", "application/xml")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *arguments: object) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        monkeypatch.setenv("GAVEL_S3_ENDPOINT", f"http://127.0.0.1:{server.server_port}")

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "value")
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "line"),
    [
        (400, REFUSAL, "takes no rule for unfinished uploads (MalformedXML)"),
        (403, b"<Error><Code>AccessDenied</Code></Error>", "takes no rule for unfinished uploads (AccessDenied)"),
        # As MinIO does with such an action beside another: minio/minio issue 19115.
        (200, b"", "dropped the rule"),
    ],
)
def test_a_store_that_takes_none_is_told_and_no_error(
    serve: Callable[[int, bytes], None], status: int, body: bytes, line: str
) -> None:
    serve(status, body)
    assert line in told()


def test_a_store_that_does_not_answer_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("GAVEL_S3_ENDPOINT", "http://127.0.0.1:9"), ("AWS_ACCESS_KEY_ID", "a")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    with pytest.raises(StorageError, match="nothing listens"):
        told()
