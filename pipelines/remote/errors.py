"""What KFP's API refuses, in plain words."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from components.core.errors import GavelError

_SIGN_IN = (
    "set KFP_TOKEN, KFP_TOKEN_FILE (a file with a token) or KFP_COOKIES (such as authservice_session=...), as your "
    "installation asks for it"
)
FORWARD = (
    "from outside the cluster `kubectl -n kubeflow port-forward svc/ml-pipeline-ui 8080:80` makes it "
    "KFP_HOST=http://127.0.0.1:8080"
)
"""How to reach KFP. That service has the pages and hands on what is asked of the API; ``ml-pipeline`` is the API
alone, and links to its pages would lead nowhere."""
_LATER = (
    "try again in a while; if it stays, see the log of KFP's API server: kubectl -n kubeflow logs deploy/ml-pipeline"
)


class KfpError(GavelError):
    """KFP's API did not do what it was asked.

    Attributes:
        status: of HTTP; None when there was no answer.
    """

    status: int | None = None


@contextlib.contextmanager
def telling(host: str, *, changes: str = "") -> Iterator[None]:
    """Turn what the client raises into a :class:`KfpError`.

    Args:
        host: where the API is.
        changes: what is being made, such as "the run"; when no answer comes, it may have been made all the same.
    """
    import kfp_server_api  # type: ignore[import-untyped]
    import urllib3

    try:
        yield
    except kfp_server_api.ApiException as error:
        raise _refused(error, host) from None
    except urllib3.exceptions.NewConnectionError as error:
        reason = str(error.__cause__ or error).rsplit(": ", 1)[-1]
        remedy = f"check KFP_HOST{_scheme(host)}; {FORWARD}"
        raise KfpError(f"KFP cannot be reached: {reason}", where=host, remedy=remedy) from None
    except urllib3.exceptions.LocationParseError as error:
        raise KfpError(
            f"KFP_HOST is no URL: {error}", where=host, remedy="write http://host:port or https://host/path"
        ) from None
    except urllib3.exceptions.TimeoutError:
        raise KfpError(f"KFP did not answer in time{_perhaps(changes)}", where=host, remedy=_LATER) from None
    except urllib3.exceptions.HTTPError as error:
        what = f"the connection to KFP broke: {_plain(error)}{_perhaps(changes)}"
        raise KfpError(what, where=host, remedy="try again") from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        # A refusal that comes without a body, such as TLS's, its client stumbles over itself.
        if isinstance(error.__context__, kfp_server_api.ApiException):
            raise _refused(error.__context__, host) from None
        # The client's own, for answers that are JSON of another shape.
        raise no_answer(host, f"its client cannot read it: {type(error).__name__}{_perhaps(changes)}") from error


def no_answer(host: str, detail: str = "") -> KfpError:
    """For a host that answers, but not as KFP does. A gateway's page to sign in comes with status 200."""
    return KfpError(
        "the host answers with something that is not KFP's API" + (f"; {detail}" if detail else ""),
        where=host,
        remedy="KFP_HOST must lead to KFP's API; behind a sign-in page set KFP_TOKEN, KFP_TOKEN_FILE or KFP_COOKIES",
    )


def _scheme(host: str) -> str:
    if not host.startswith("https://"):
        return ""
    return f" (one without a scheme is taken as https; for plain HTTP write http://{host.removeprefix('https://')})"


def _perhaps(changes: str) -> str:
    return f"; {changes} may have been made all the same: see make runs" if changes else ""


def _plain(error: Exception) -> str:
    inner = error.args[-1] if error.args and isinstance(error.args[-1], Exception) else error
    return str(inner)


def _refused(error: Any, host: str) -> KfpError:
    status, said = int(error.status or 0), _message(error)
    if status == 0 and said.startswith("Failed to parse"):
        return no_answer(host, said)
    if status == 401:
        found = KfpError("KFP wants to know who is asking (401)", where=host, remedy=_SIGN_IN)
    elif status == 403:
        remedy = f"ask for the right in this namespace (KFP_NAMESPACE), or {_SIGN_IN}"
        found = KfpError(f"KFP does not allow this (403): {said}", where=host, remedy=remedy)
    elif status == 404:
        remedy = "see make runs; if nothing at all is found, KFP_HOST is not the address of KFP's API"
        found = KfpError(f"KFP does not know it (404): {said}", where=host, remedy=remedy)
    elif status == 0:
        remedy = f"KFP_CA names a file with the certificate of your installation's authority{_scheme(host)}"
        found = KfpError(f"the TLS connection to KFP failed: {said}", where=host, remedy=remedy)
    elif status == 429 or status >= 500:
        found = KfpError(f"KFP failed ({status}): {said}", where=host, remedy=_LATER)
    else:
        found = KfpError(
            f"KFP refused ({status}): {said}",
            where=host,
            remedy="see what it says; kfp 2.17 speaks to KFP 2.4 and later",
        )
    found.status = status or None
    return found


def _message(error: Any) -> str:
    """What the server says, on one line; gRPC's gateway puts it into ``message`` or ``error``."""
    text = error.body if error.body else error.reason
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, TypeError):
        body = json.loads(text)
        if isinstance(body, dict):
            text = body.get("message") or body.get("error_message") or body.get("error") or text
    line = " ".join(str(text).split())
    return line if len(line) <= 400 else line[:400] + "..."
