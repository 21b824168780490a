"""Names, labels and annotations of a training's RayJobs.

One result (an experiment's training with one identity) has one name, and each further attempt at it a number:
``NAME``, ``NAME-r1``, ... ``NAME-r9``.
"""

import re

from components.kube.labels import LABEL_EXPERIMENT, MANAGED_BY
from components.kube.names import label_value, object_name

LIMIT = 47
"""Longest name: KubeRay refuses a longer one, and with Kueue the job then holds its quota for ever (kueue#13413)."""

LAST_ATTEMPT = 9
LABEL_IDENTITY = "gavel.dev/identity"
LABEL_CLUSTER = "ray.io/cluster"
"""KubeRay's, on the pods of a Ray cluster."""
LABEL_NODE = "ray.io/node-type"
"""KubeRay's, on the same pods: head or worker."""
LABEL_SUBMITTER = "job-name"
"""Kubernetes', on the pods of a Job; the submitter's Job has the RayJob's name."""

_ENDING = re.compile(r"-r([1-9])")
_SHORT = 8


def base_name(experiment: str, identity: str) -> str:
    """Name of the first attempt; at most 44 characters, so that the others fit."""
    room = LIMIT - len("-r9") - _SHORT - 1
    return f"{object_name(experiment, limit=room)}-{identity[:_SHORT]}"


def attempt_name(base: str, number: int) -> str:
    """Name of an attempt, numbered from 0."""
    return f"{base}-r{number}" if number else base


def attempt_number(base: str, name: str) -> int | None:
    """The number in an attempt's name; None where the name is not one of ``base``."""
    if name == base:
        return 0
    match = _ENDING.fullmatch(name.removeprefix(base)) if name.startswith(base) else None
    return int(match[1]) if match else None


def identity_labels(experiment: str, identity: str) -> dict[str, str]:
    """Labels by which all attempts at one result are found."""
    return {
        **MANAGED_BY,
        LABEL_EXPERIMENT: label_value(experiment),
        LABEL_IDENTITY: identity[:63],
    }
