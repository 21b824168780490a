"""How long a judge that is coming up is waited for."""

import dataclasses
from typing import TYPE_CHECKING

from components.judge.kserve.sizing import start_seconds

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.kubernetes import KubernetesSpec


@dataclasses.dataclass(frozen=True, slots=True)
class Patience:
    """Limits, in seconds unless said otherwise.

    Attributes:
        start: image, weights and loading together; time without a node does not count.
        queue: without a node, or not yet admitted by the queue; None waits as long as it takes.
        image: for a registry that refuses an image that may yet come.
        config: for a Secret, claim or account that is missing.
        crashes: ends of a server before its first answer, a count.
        verdict: for the first verdict of a server that is ready.
        poll: between two looks where the cluster reports nothing.
        again: between two lines of progress that say the same.
        deletions: how often a judge that somebody deletes under us is made again, a count.
    """

    start: float
    queue: float | None
    image: float = 300.0
    config: float = 180.0
    crashes: int = 3
    verdict: float = 180.0
    poll: float = 10.0
    again: float = 60.0
    deletions: int = 2

    @classmethod
    def of(cls, spec: "JudgeSpec", kubernetes: "KubernetesSpec") -> "Patience":
        """As the judge's size and the cluster say."""
        minutes = kubernetes.queue_minutes
        return cls(start=start_seconds(spec), queue=None if minutes is None else minutes * 60)
