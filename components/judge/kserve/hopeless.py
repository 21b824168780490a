"""When waiting for a judge has no point any more, and what to do about it."""

import re
from collections.abc import Mapping
from typing import Final

from components.judge.kserve.look import Look
from components.judge.kserve.patience import Patience

_NEVER: Final = re.compile(
    r"InvalidImageName|ErrImageNeverPull|manifest unknown|manifest for .* not found|: not found|"
    r"repository does not exist|couldn't parse image|SignatureValidationFailed",
    re.IGNORECASE,
)
"""What a registry or the kubelet says of an image that will not be there in five minutes either."""
_REMEDIES: Final[Mapping[str, str]] = {
    "image-pull": "see that the image of the ServingRuntime exists and that the namespace may pull it "
    "(imagePullSecrets of the account gavel-judge)",
    "unschedulable": "see that the pool's selector, tolerations and GPUs are those of nodes that are free "
    "(kubectl get nodes --show-labels), or raise cluster.kubernetes.queue_minutes",
    "out-of-memory": "raise deployment.memory_gib, or lower context_tokens",
    "crash": "read the lines above; for CUDA out of memory raise deployment.tensor_parallel or lower context_tokens, "
    "for weights that cannot be fetched see source and the account's credentials",
    "probe": "raise deployment.start_minutes if the model was still loading",
    "evicted": "see what the node ran out of (kubectl describe pod)",
    "config": "make what it names: Secrets, claims and accounts come with the manifests (make deploy)",
}


def remedy(kind: str) -> str:
    """What to do about one kind of trouble."""
    return _REMEDIES[kind]


def trouble_kind(seen: Look) -> str | None:
    """What is wrong, as a key of time and remedies; None where nothing is. A queue that has not admitted the pod yet is
    no trouble of the pod's own."""
    if seen.refused is not None:
        return "config"
    if seen.trouble is not None:
        return seen.trouble.kind
    return "unschedulable" if seen.stage == "waiting for a node" else None


def hopeless(seen: Look, seconds: float, patience: Patience) -> bool:
    """Whether waiting has no point any more.

    What may mend itself gets its time: a node comes free, a registry is back, a Secret is made. What cannot ends at
    once: no registry will have a malformed name.

    Args:
        seen: the newest look.
        seconds: for how long this kind of trouble has lasted.
        patience: limits.
    """
    kind = trouble_kind(seen)
    if kind == "image-pull":
        detail = seen.trouble.detail if seen.trouble else ""
        return _NEVER.search(detail) is not None or seconds > patience.image
    if kind == "unschedulable":
        return patience.queue is not None and seconds > patience.queue
    if kind == "config":
        return seconds > patience.config
    if kind == "out-of-memory":
        # It needs as much the next time; once may be a neighbour's fault.
        return seen.restarts >= 2
    if kind == "crash":
        return seen.restarts >= patience.crashes
    # A server that its start-up probe killed had the whole budget once; after an eviction there is a new pod.
    return kind == "probe"
