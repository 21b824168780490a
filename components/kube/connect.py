"""Where the API server is, and who we are there: the pod's service account, or a kubeconfig."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from components.kube.errors import KubeError

if TYPE_CHECKING:
    import urllib3

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class Connection:
    """A server, a pool of connections to it, and the headers that say who we are (asked for anew at each request: the
    token of a pod changes every hour)."""

    server: str
    pool: "urllib3.PoolManager"
    headers: Callable[[], dict[str, str]]
    namespace: str
    """The namespace of the pod or of the kubeconfig's context."""


def connection() -> Connection:
    """The cluster that this process belongs to, else the one of $KUBECONFIG or ~/.kube/config.

    Raises:
        KubeError: there is neither, or what is there cannot be read.
    """
    # Imported here because it takes a second, and most of what imports this module never connects.
    import yaml
    from kubernetes import client, config

    inside = bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (_ACCOUNT / "token").is_file()
    where = str(_ACCOUNT) if inside else os.environ.get("KUBECONFIG") or "~/.kube/config"
    configuration = client.Configuration()
    try:
        if inside:
            config.load_incluster_config(client_configuration=configuration)
            namespace = (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
        else:
            # The client reads the variable once, when it is imported: what is set later would not count.
            config.load_kube_config(config_file=where, client_configuration=configuration)
            namespace = config.list_kube_config_contexts(where)[1].get("context", {}).get("namespace", "default")
    except (config.ConfigException, yaml.YAMLError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise KubeError(
            f"no way to a Kubernetes cluster: {str(error) or type(error).__name__}",
            where=where,
            remedy="set KUBECONFIG to a kubeconfig file that `kubectl get pods` works with",
        ) from error
    api = client.ApiClient(configuration)

    def headers() -> dict[str, str]:
        found: dict[str, str] = {"User-Agent": "gavel"}
        api.update_params_for_auth(found, [], ["BearerToken"])
        if not all(" " <= character <= "~" for value in found.values() for character in value):
            # An HTTP library would quote the value in its complaint.
            raise KubeError(
                "the credentials hold a character that no HTTP header takes, such as a line end",
                where=where,
                remedy="write the token anew, on one line",
            )
        return found

    return Connection(configuration.host.rstrip("/"), api.rest_client.pool_manager, headers, namespace)
