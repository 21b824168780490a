"""One interface for every placement, and the choice between them."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from components.core.progress import Progress
from components.judge.endpoint import Endpoint
from components.judge.leases.ended import Ended

if TYPE_CHECKING:
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec


class JudgePlacement(Protocol):
    """Brings one judge up and ends it. Both may be called again at any time, and after a kill."""

    def up(self, progress: Progress) -> Endpoint:
        """Start the judge, or find it running; returns once it answers.

        Raises:
            GavelError: it cannot be started, or did not answer in time.
        """
        ...

    def down(self) -> Ended:
        """End exactly this judge, as far as this run is concerned; true where it ended."""
        ...


def choose_placement(spec: "JudgeSpec", cluster: "ClusterSpec", state: Path, *, experiment: str = "") -> JudgePlacement:
    """The placement for a judge on a cluster.

    Args:
        spec: the judge.
        cluster: where it is to run.
        state: the state folder.
        experiment: name of the experiment that asks, for labels and leases of shared judges.
    """
    if spec.serving == "external":
        from components.judge.placement.external import ExternalPlacement

        return ExternalPlacement(spec)
    if cluster.placement == "kubernetes" or spec.serving == "kserve":
        from components.judge.placement.kserve import KservePlacement

        return KservePlacement(spec, cluster, experiment)
    from components.judge.placement.local import LocalPlacement

    return LocalPlacement(spec, cluster.cpu_threads, state)
