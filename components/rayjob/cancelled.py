"""Whether the pipeline's run was cancelled: only the KFP API knows. A SIGTERM alone may be an eviction of the pod."""

import os
from pathlib import Path

from components.core.holder import KFP_RUN

HOST_VARIABLE = "KFP_HOST"
"""URL of the KFP API; without it the service of the cluster is asked."""

TOKEN_VARIABLE = "KF_PIPELINES_SA_TOKEN_PATH"
"""KFP's own: file with the pod's token for the API, in installations of several users."""

_IN_CLUSTER = "http://ml-pipeline.kubeflow.svc.cluster.local:8888"
_CANCELLED = frozenset({"CANCELING", "CANCELED"})
_SECONDS = 6.0
"""For one question, which is asked twice at most. A pod that is ended has 30 seconds in all."""


def cancelled() -> tuple[bool | None, str]:
    """Whether the run of ``$GAVEL_KFP_RUN`` was cancelled; None where that cannot be found out.

    Returns:
        The answer, and how it was found.
    """
    run = os.environ.get(KFP_RUN)
    if not run:
        return None, f"{KFP_RUN} is not set"
    # The API's own client, which kfp wraps; kfp's asks the server several things before it is of use.
    import kfp_server_api  # type: ignore[import-untyped]
    import urllib3

    settings = kfp_server_api.Configuration(host=(os.environ.get(HOST_VARIABLE) or _IN_CLUSTER).rstrip("/"))
    settings.retries = 1
    token = Path(os.environ.get(TOKEN_VARIABLE) or "/nowhere")
    try:
        if token.is_file():
            settings.api_key = {"authorization": token.read_text().strip()}
            settings.api_key_prefix = {"authorization": "Bearer"}
        runs = kfp_server_api.RunServiceApi(kfp_server_api.ApiClient(settings))
        state = getattr(runs.run_service_get_run(run_id=run, _request_timeout=_SECONDS), "state", None)
    except kfp_server_api.ApiException as error:
        return None, f"the KFP API answered {error.status}"
    except AttributeError:
        # Of a failure of TLS the client makes an error of its own, and stumbles over it: that has no status.
        return None, "the KFP API cannot be asked: no TLS connection"
    except (urllib3.exceptions.HTTPError, OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        return None, f"the KFP API cannot be asked: {type(error).__name__}"
    if not isinstance(state, str):
        # Of a page to sign in the client makes an empty run.
        return None, "what answers is not the KFP API"
    return state in _CANCELLED, f"the KFP API says {state}"
