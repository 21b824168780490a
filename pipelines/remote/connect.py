"""The connection to KFP's API: kfp's own client, with deadlines and repeated reads."""

import contextlib
import io
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from pipelines.remote.errors import KfpError, telling

HOST = "KFP_HOST"
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
    host = (os.environ.get(HOST) or os.environ.get("KF_PIPELINES_ENDPOINT") or "").strip().rstrip("/")
    if not host:
        remedy = "give KFP_HOST=http://... (kubectl -n kubeflow port-forward svc/ml-pipeline-ui 8080:80 makes it "
        raise ConfigError("no KFP is named", where=HOST, remedy=remedy + "http://127.0.0.1:8080)")
    if "://" not in host:
        host = f"https://{host}"
    with telling(host), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = _client(host)
        _patient(client, read_seconds)
        several = _serves_several(client, host)
    chosen = (os.environ.get("KFP_NAMESPACE") or namespace) if several else ""
    if several and not chosen:
        raise ConfigError(
            "KFP serves several users here", where=host, remedy="set KFP_NAMESPACE to the namespace of your profile"
        )
    client._context_setting["namespace"] = chosen
    return Remote(client, host, (os.environ.get("KFP_UI") or host).rstrip("/"), chosen)


def _client(host: str) -> Any:
    import kfp

    credentials = None
    token = os.environ.get("KFP_TOKEN") or _token_file()
    if not token and os.environ.get("KF_PIPELINES_SA_TOKEN_PATH"):
        from kfp.client.set_volume_credentials import ServiceAccountTokenVolumeCredentials

        credentials = ServiceAccountTokenVolumeCredentials()
    return kfp.Client(
        host=host,
        # Any name but the default keeps the client from asking for the server's health by itself, again and again and
        # with tracebacks; the right one is set afterwards.
        namespace="unknown",
        existing_token=token,
        credentials=credentials,
        cookies=os.environ.get("KFP_COOKIES"),
        ssl_ca_cert=os.environ.get("KFP_CA"),
    )


def _token_file() -> str | None:
    name = os.environ.get("KFP_TOKEN_FILE")
    if not name:
        return None
    try:
        return Path(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the token cannot be read: {error}", where="KFP_TOKEN_FILE", remedy="name a readable file"
        ) from error


def _patient(client: Any, read_seconds: float) -> None:
    """Give every request a deadline, which kfp has none of, and repeat reads that an overloaded server refused."""
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
                return plain(method, url, *args, **options)
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
    try:
        body = json.loads(answer.data)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        # A gateway's page to sign in comes with status 200.
        remedy = "KFP_HOST must lead to KFP's API; behind a sign-in page set KFP_TOKEN, KFP_TOKEN_FILE or KFP_COOKIES"
        raise KfpError("the host answers with a page that is not KFP's API", where=host, remedy=remedy)
    return bool(body.get("multi_user"))
