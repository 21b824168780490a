"""A judge on a placement that has no back end in this installation."""

from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.core.progress import Progress
from components.judge.endpoint import Endpoint

if TYPE_CHECKING:
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec


class AbsentPlacement:
    """Cannot bring the judge up, and so never has anything to end.

    Args:
        spec: the judge.
        cluster: the cluster that it was to run on.
    """

    def __init__(self, spec: "JudgeSpec", cluster: "ClusterSpec") -> None:
        self._spec = spec
        self._cluster = cluster

    def up(self, progress: Progress) -> Endpoint:
        """See :class:`components.judge.placement.base.JudgePlacement`."""
        raise JudgeError(
            f"judge {self._spec.name} is to be served by {self._spec.serving} on Kubernetes, "
            "and no back end for that is installed",
            where=f"cluster {self._cluster.name}: placement {self._cluster.placement}",
            remedy="the back end comes with the cluster overlay; until then take a cluster with placement: local, "
            "or set the judge's serving: external and the endpoint of a server that runs",
        )

    def down(self) -> bool:
        """Nothing of ours runs."""
        return False
