"""KServe's init container that fetches weights, and whether the pod security level lets it into our namespace."""

import json
from typing import Any

from components.cluster_setup.kubectl import Kubectl

NAME = "default"
_CONTEXT = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def advice(kubectl: Kubectl) -> str | None:
    """What to type where judges with weights from ``hf://`` or ``s3://`` would be refused; None where all is well.

    KServe takes the container from a ClusterStorageContainer, which as shipped has no security context. Under
    "restricted" such a pod is refused, and nothing but the events of its ReplicaSet says so. The object is the whole
    cluster's and KServe's, so that it is not changed here.
    """
    found = kubectl.get("clusterstoragecontainers.serving.kserve.io", NAME)
    if found is None:
        return None
    context: dict[str, Any] = found["spec"]["container"].get("securityContext") or {}
    if context.get("allowPrivilegeEscalation") is False and "ALL" in (context.get("capabilities") or {}).get(
        "drop", ()
    ):
        return None
    change = json.dumps({"spec": {"container": {"securityContext": _CONTEXT}}})
    return (
        "note: KServe's storage initializer has no security context, so that pods of judges with weights from hf:// or "
        'from s3:// are refused under "restricted". Mend it for the whole cluster: '
        f"kubectl patch clusterstoragecontainer {NAME} --type=merge -p '{change}'"
    )
