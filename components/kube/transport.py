"""Requests to the API server, repeated while it is overloaded, failing or away."""

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError, SSLError

from components.kube.answers import no_object, parsed
from components.kube.connect import Connection
from components.kube.errors import KubeError, UnreachableError
from components.kube.kinds import Kind
from components.kube.refusal import refusal

_REPEATED = frozenset({429, 500, 502, 503, 504})
_CONNECT = 10.0
_READ = 60.0
_FIRST = 0.25
_LONGEST = 10.0
_CHUNK = 2**16
_LARGEST = 2**28
"""Bytes of an answer; a list of everything in a large namespace has a tenth of that."""


@dataclass(frozen=True)
class Request:
    """One request on an object or a collection. ``verb`` is RBAC's word for it."""

    method: str
    verb: str
    kind: Kind
    namespace: str
    name: str = ""
    subresource: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content: str = "application/json"


class Busy(Exception):  # noqa: N818 (no failure yet: the request is made again)
    """No usable answer, for a reason that may pass. ``wait`` is what the server asks for, in seconds."""

    def __init__(self, status: int, said: str, wait: float | None = None) -> None:
        super().__init__(said)
        self.status, self.said, self.wait = status, said, wait


class Transport:
    """Sends requests. ``patience`` is how long one request is repeated, in seconds."""

    def __init__(self, connection: Connection, patience: float) -> None:
        self.connection = connection
        self.patience = patience
        self._dice = random.Random()

    def send(self, request: Request) -> bytes:
        """The answer's body.

        Raises:
            KubeError: refused; ``UnreachableError`` if it could not be had within the patience.
        """
        end = time.monotonic() + self.patience
        repeat = 0
        while True:
            try:
                # Never longer than is left, or a server that hangs would stretch the patience by a whole time-out.
                read = max(1.0, min(_READ, end - time.monotonic()))
                return _body(self.open(request, read=read), read)
            except Busy as busy:
                wait = self.pause(repeat, busy.wait)
                if time.monotonic() + wait >= end:
                    raise self._given_up(request, busy) from busy
            time.sleep(wait)
            repeat += 1

    def send_object(self, request: Request) -> dict[str, Any]:
        """The answer as an object.

        Raises:
            KubeError: as ``send``; or the answer is none, so that no API server is at that address.
        """
        answer = parsed(self.send(request))
        if not isinstance(answer, dict):
            raise no_object(self.connection.server)
        return answer

    def open(self, request: Request, *, read: float) -> urllib3.BaseHTTPResponse:
        """One try. The body is still to be read, and the caller closes the response where it leaves some.

        Raises:
            Busy: nobody there, or an answer that may be another one a little later.
            KubeError: refused.
        """
        server = self.connection.server
        url = server + request.kind.path(request.namespace, request.name, request.subresource)
        headers = {**self.connection.headers(), "Accept": "application/json, */*"}
        if request.body is not None:
            headers["Content-Type"] = request.content
        try:
            response = self.connection.pool.request(
                request.method,
                url + (f"?{urlencode(request.query)}" if request.query else ""),
                body=None if request.body is None else json.dumps(request.body).encode(),
                headers=headers,
                timeout=urllib3.Timeout(connect=_CONNECT, read=read),
                retries=False,
                preload_content=False,
            )
            if response.status < 300:
                return response
            said = _body(response, read)
        except SSLError as error:
            if "CERTIFICATE_VERIFY_FAILED" not in str(error):  # A server that restarts cuts the greeting short, too.
                raise Busy(0, str(error)) from error
            raise UnreachableError(
                f"the certificate of the API server is not accepted: {error}",
                where=server,
                remedy="give the cluster's own certificate-authority in the kubeconfig",
            ) from error
        except HTTPError as error:
            raise Busy(0, str(error)) from error
        kind, name, part = request.kind, request.name, request.subresource
        refused = refusal(response.status, said, request.verb, kind, request.namespace, name, part, server)
        if response.status in _REPEATED:
            raise Busy(response.status, refused.what, _seconds(response.headers.get("Retry-After"))) from refused
        raise refused

    def pause(self, repeat: int, wished: float | None = None) -> float:
        """Seconds before repetition number ``repeat`` (from 0): what the server wishes, else part of a doubling limit,
        drawn so that steps that failed together do not come back together."""
        drawn = self._dice.uniform(0.5, 1.0) * min(_LONGEST, _FIRST * 2.0 ** min(repeat, 16))
        return max(drawn, wished) if wished is not None else drawn

    def _given_up(self, request: Request, busy: Busy) -> KubeError:
        answered = f"answers {busy.status}" if busy.status else "does not answer"
        return UnreachableError(
            f"the API server {answered}, for {self.patience:.0f} s: {busy.said}",
            where=f"{self.connection.server} ({request.verb} {request.kind.resource} {request.name})".replace(
                " )", ")"
            ),
            remedy="see whether `kubectl get --raw /readyz` works from here; the step can be run again",
            status=busy.status,
        )


def _body(response: urllib3.BaseHTTPResponse, seconds: float) -> bytes:
    """The whole body. The time-out of a read is that of one chunk, so that one that drips would never end.

    Raises:
        Busy: it does not end.
    """
    parts, size, end = [], 0, time.monotonic() + seconds
    try:
        while chunk := response.read1(_CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > _LARGEST or time.monotonic() > end:
                response.close()
                raise Busy(0, f"its answer has no end: {size} bytes in {seconds:.0f} s")
    except HTTPError as error:
        raise Busy(0, str(error)) from error
    response.release_conn()
    return b"".join(parts)


def _seconds(header: str | None) -> float | None:
    """Retry-After as the API server writes it: whole seconds."""
    return float(header) if header is not None and header.strip().isdecimal() else None
