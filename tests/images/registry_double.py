"""A small image registry over HTTP (the OCI distribution protocol's upload and download), in memory."""

import hashlib
import http.server
import re
import threading
import uuid
from typing import Any


class Registry(http.server.ThreadingHTTPServer):
    """Serves on a free port of the loopback interface.

    Attributes:
        forgetful: manifests are accepted and not kept, as by a registry whose disk fails.
        refusing: every write is answered with 401.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, tuple[str, bytes]] = {}
        self.uploads: dict[str, bytearray] = {}
        self.forgetful = False
        self.refusing = False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def name(self) -> str:
        """Host and port, as in an image's name."""
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Registry

    def do_GET(self) -> None:
        if self.path == "/v2/":
            self._answer(200, b"{}")
        elif found := re.fullmatch(r"/v2/(.+)/blobs/(sha256:\w+)", self.path):
            blob = self.server.blobs.get(found[2])
            self._answer(404) if blob is None else self._answer(200, blob, {"Docker-Content-Digest": found[2]})
        elif found := re.fullmatch(r"/v2/(.+)/manifests/(.+)", self.path):
            kept = self.server.manifests.get(found[2])
            if kept is None:
                self._answer(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}')
            else:
                digest = "sha256:" + hashlib.sha256(kept[1]).hexdigest()
                self._answer(200, kept[1], {"Content-Type": kept[0], "Docker-Content-Digest": digest})
        else:
            self._answer(404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self._body()
        if self.server.refusing:
            self._answer(401, b'{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}')
            return
        key = uuid.uuid4().hex
        self.server.uploads[key] = bytearray()
        self._answer(202, headers={"Location": f"{self.path.split('?')[0].rstrip('/')}/{key}", "Range": "0-0"})

    def do_PATCH(self) -> None:
        key = self.path.split("?")[0].rpartition("/")[2]
        self.server.uploads[key] += self._body()
        size = len(self.server.uploads[key])
        self._answer(202, headers={"Location": self.path, "Range": f"0-{max(0, size - 1)}"})

    def do_PUT(self) -> None:
        body = self._body()
        if found := re.fullmatch(r"/v2/(.+)/manifests/(.+)", self.path):
            digest = "sha256:" + hashlib.sha256(body).hexdigest()
            if not self.server.forgetful:
                kept = (self.headers["Content-Type"], body)
                self.server.manifests[found[2]] = self.server.manifests[digest] = kept
            self._answer(201, headers={"Docker-Content-Digest": digest})
            return
        key = self.path.split("?")[0].rpartition("/")[2]
        blob = bytes(self.server.uploads.pop(key) + body)
        digest = "sha256:" + hashlib.sha256(blob).hexdigest()
        self.server.blobs[digest] = blob
        self._answer(201, headers={"Location": self.path, "Docker-Content-Digest": digest})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass
