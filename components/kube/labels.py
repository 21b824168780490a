"""Labels and annotations of the objects that Gavel makes."""

MANAGED_BY = {"app.kubernetes.io/managed-by": "gavel"}
LABEL_EXPERIMENT = "gavel.dev/experiment"
LABEL_JUDGE = "gavel.dev/judge"
LABEL_FAMILY = "gavel.dev/family"
LABEL_SIZE = "gavel.dev/size"
LABEL_QUEUE = "kueue.x-k8s.io/queue-name"
"""Kueue's LocalQueue, looked for in the object's own namespace. A pod with it is gated until the queue admits it."""
LABEL_PRIORITY = "kueue.x-k8s.io/priority-class"
ANNOTATION_SPEC = "gavel.dev/spec"
"""sha256 of what was asked for: an object with the same one can be adopted."""


def selector(labels: dict[str, str]) -> str:
    """Equality-based label selector, as the API and ``kubectl -l`` take it."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
