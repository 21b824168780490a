"""The connection to KFP's API: kfp's own client, with deadlines and repeated reads."""

import contextlib
import io
import ipaddress
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.core.errors import ConfigError
from pipelines.remote.errors import FORWARD, no_answer, telling

HOST = "KFP_HOST"
NAME_IT = f"give KFP_HOST=http://...; {FORWARD}"
"""What to do where no host is named."""
_POD_TOKEN = "KF_PIPELINES_SA_TOKEN_PATH"
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 60.0
_TRIES = 4
_AGAIN = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Remote:
    """KFP, as this user sees it.

    Attributes:
        client: ``kfp.Client``.
        host: URL of its API.
        ui: URL of its pages.
        namespace: whose runs and pipelines are meant, where KFP serves several users; "" where it serves one.
    """

    client: Any
    host: str
    ui: str
    namespace: str = ""

    @contextlib.contextmanager
    def asking(self, changes: str = "") -> Iterator[None]:
        """For calls of the client: what it raises becomes a KfpError, and what it prints is dropped.

        Args:
            changes: see :func:`pipelines.remote.errors.telling`.
        """
        with telling(self.host, changes=changes), contextlib.redirect_stdout(io.StringIO()):
            yield

    def run_page(self, run_id: str) -> str:
        """Where a browser shows the run."""
        return f"{self.ui}/#/runs/details/{run_id}"


def connect(namespace: str = "", *, read_seconds: float = _READ_SECONDS) -> Remote:
    """Connect to ``$KFP_HOST``, and find out whether it answers.

    A host without a scheme is asked by https, and this machine, where forwarded ports are, by http.

    Credentials: ``$KFP_TOKEN``, a file ``$KFP_TOKEN_FILE``, ``$KFP_COOKIES``, or in a pod the token that KFP's
    manifests project (``$KF_PIPELINES_SA_TOKEN_PATH``). ``$KFP_CA`` is a file with
    certificates, ``$KFP_UI`` the URL of the pages where that differs.

    Args:
        namespace: used where KFP serves several users and ``$KFP_NAMESPACE`` is not set.
        read_seconds: deadline of one answer.

    Raises:
        ConfigError: no host is named, or the token's file cannot be read.
        KfpError: it does not answer, or not as KFP does.
    """
    host = named_host()
    if not host:
        raise ConfigError("no KFP is named", where=HOST, remedy=NAME_IT)
    if "://" not in host:
        host = f"{'http' if _is_loopback(host) else 'https'}://{host}"
    page = (os.environ.get("KFP_UI") or host).rstrip("/")
    _check_url(host, HOST)
    _check_url(page, "KFP_UI")
    with telling(host), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = _client(host)
        _patient(client, host, read_seconds)
        several = _serves_several(client, host)
    chosen = (os.environ.get("KFP_NAMESPACE") or namespace) if several else ""
    if several and not chosen:
        raise ConfigError(
            "KFP serves several users here", where=host, remedy="set KFP_NAMESPACE to the namespace of your profile"
        )
    client._context_setting["namespace"] = chosen
    return Remote(client, host, page, chosen)


def named_host() -> str:
    """What the environment names, as it stands there; "" where it names nothing."""
    return (os.environ.get(HOST) or os.environ.get("KF_PIPELINES_ENDPOINT") or "").strip().rstrip("/")


def _is_loopback(host: str) -> bool:
    """Whether a host without a scheme is this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return False


def _client(host: str) -> Any:
    import kfp

    credentials = None
    token = _header("KFP_TOKEN", os.environ.get("KFP_TOKEN")) or _file("KFP_TOKEN_FILE")
    if not token and _file(_POD_TOKEN):
        from kfp.client.set_volume_credentials import ServiceAccountTokenVolumeCredentials

        credentials = ServiceAccountTokenVolumeCredentials()
    return kfp.Client(
        host=host,
        # Any name but the default keeps the client from asking for the server's health by itself, again and again and
        # with tracebacks; the right one is set afterwards.
        namespace="unknown",
        existing_token=token,
        credentials=credentials,
        cookies=_header("KFP_COOKIES", os.environ.get("KFP_COOKIES")),
        ssl_ca_cert=_certificates(),
    )


def _file(variable: str) -> str | None:
    name = os.environ.get(variable)
    if not name:
        return None
    try:
        return _header(variable, Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"the token cannot be read: {error}", where=variable, remedy="name a readable file"
        ) from error
    except UnicodeDecodeError:
        # The error would show the bytes.
        raise ConfigError("the token is no text", where=variable, remedy="name a file with a token") from None


def _header(variable: str, value: str | None) -> str | None:
    """A credential without the line end that files and settings often add.

    Raises:
        ConfigError: it cannot stand in a header. (An HTTP library would quote it in its complaint.)
    """
    found = (value or "").strip()
    if not all(" " <= character <= "~" for character in found):
        remedy = "give it on one line, without quotation marks or other characters that it does not have"
        raise ConfigError("it holds a character that no HTTP header takes", where=variable, remedy=remedy)
    return found or None


def _certificates() -> str | None:
    name = os.environ.get("KFP_CA") or None
    if name and not Path(name).is_file():
        raise ConfigError(f"there is no file {name}", where="KFP_CA", remedy="name a file with certificates")
    return name


def _check_url(url: str, variable: str) -> None:
    """URLs are printed, and stand in messages."""
    try:
        credentials = urlsplit(url).username is not None
    except ValueError:
        return
    if credentials:
        raise ConfigError(
            "the URL must not hold credentials",
            where=variable,
            remedy="put them into KFP_TOKEN, KFP_TOKEN_FILE or KFP_COOKIES",
        )


def _patient(client: Any, host: str, read_seconds: float) -> None:
    """Give every request a deadline, which kfp has none of, and repeat reads that an overloaded server refused. Of an
    answer that is no object kfp's client makes an empty one, as if there were no runs."""
    import kfp_server_api  # type: ignore[import-untyped]
    import urllib3

    rest = client._run_api.api_client.rest_client
    rest.pool_manager.connection_pool_kw["retries"] = False
    plain: Callable[..., Any] = rest.request

    def request(method: str, url: str, *args: Any, **options: Any) -> Any:
        options["_request_timeout"] = (_CONNECT_SECONDS, read_seconds)
        tries = _TRIES if method == "GET" else 1
        for number in range(1, tries + 1):
            try:
                answer = plain(method, url, *args, **options)
                if not _is_object(answer.data):
                    raise no_answer(host)
                return answer
            except kfp_server_api.ApiException as error:
                if error.status not in _AGAIN or number == tries:
                    raise
            except urllib3.exceptions.ProtocolError:
                if number == tries:
                    raise
            time.sleep(0.25 * 2**number)
        raise AssertionError("the loop returns or raises")

    rest.request = request


def _serves_several(client: Any, host: str) -> bool:
    answer = client.healthzs.healthz_service_get_healthz(_preload_content=False)
    told = json.loads(answer.data)
    # The server of KFP's pages answers for itself, and in older versions under another name.
    return bool(told.get("multi_user") or told.get("apiServerMultiUser"))


def _is_object(data: str | bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False
