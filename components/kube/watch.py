"""Following one object.

The object is listed, then watched from that list's version for at most ``poll`` seconds, then listed again. So
whatever becomes of a watch (dropped, expired with 410, silent without end) costs no more than that time, and no change
can be missed for longer.
"""

import math
import time
from collections.abc import Iterator
from typing import Any

from urllib3.exceptions import HTTPError

from components.kube.answers import is_object, items, parsed, version
from components.kube.errors import GoneError
from components.kube.kinds import Kind
from components.kube.transport import Busy, Request, Transport

_CHUNK = 2**16
_LONGEST = 2**24
"""Bytes of one change; an object has 1.5 MiB at most."""
Object = dict[str, Any]


def watch(transport: Transport, kind: Kind, namespace: str, name: str, poll: float) -> Iterator[Object | None]:
    """See ``Cluster.watch``."""
    only = {"fieldSelector": f"metadata.name={name}"}
    dropped = 0
    while True:
        listed = transport.send_object(Request("GET", "list", kind, namespace, "", "", only))
        server = transport.connection.server
        found, since = items(listed, server), version(listed, server)
        yield {"apiVersion": kind.api_version, "kind": kind.kind, **found[0]} if found else None
        begun = time.monotonic()
        query = {
            **only,
            "watch": "true",
            "resourceVersion": since,
            "timeoutSeconds": str(max(1, math.ceil(poll))),
        }
        wished, seen = None, False
        try:
            for change in _stream(transport, Request("GET", "watch", kind, namespace, "", "", query), poll):
                seen = True
                yield change
        except Busy as busy:
            wished = busy.wait
        except GoneError:
            pass  # Listed again below, from where the history begins now.
        # A watch that ends early without having shown a change would be opened again at once, and again.
        left = begun + poll - time.monotonic()
        dropped = 0 if seen or left <= 0 else dropped + 1
        if dropped:
            time.sleep(max(0.0, min(transport.pause(dropped - 1, wished), left)))


def _stream(transport: Transport, request: Request, poll: float) -> Iterator[Object | None]:
    """Changes until the stream ends, however it does.

    Raises:
        Busy: the watch was not opened.
    """
    response = transport.open(request, read=poll)
    rest = b""
    end = time.monotonic() + poll
    try:
        while chunk := response.read1(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                change = parsed(line)
                what = change.get("type") if isinstance(change, dict) else None
                if what in ("ADDED", "MODIFIED") and is_object(change.get("object")):
                    yield change["object"]
                elif what == "DELETED":
                    yield None
                elif what != "BOOKMARK":
                    # An error of the server, or nothing that it says: what is true is listed.
                    return
            if len(rest) > _LONGEST or time.monotonic() >= end:
                return
    except HTTPError:
        return
    finally:
        response.close()
