"""What judging asks of the cluster that its judges run on: where they answer, and that they are there and stay.

Where a judge runs decides no verdict. The modules that know clusters are therefore imported by names that the code
version of a step does not see: a change in how judges are deployed repeats no training and no scoring.
"""

import contextlib
import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from components.core.progress import Progress
    from components.core.spec.cluster import ClusterSpec
    from components.core.spec.judge import JudgeSpec

_LOOKUP: Final = "components.judge.kserve.lookup"
_STANDING: Final = "components.judge.placement.standing"


def find_on_cluster(spec: "JudgeSpec", cluster: "ClusterSpec | None") -> str:
    """See :func:`components.judge.kserve.lookup.find_endpoint`."""
    find = cast(Callable[["JudgeSpec", str | None], str], importlib.import_module(_LOOKUP).find_endpoint)
    kubernetes = None if cluster is None else cluster.kubernetes
    return find(spec, None if kubernetes is None else kubernetes.namespace)


def keeping(
    judges: Sequence["JudgeSpec"], cluster: "ClusterSpec", experiment: str, progress: "Progress"
) -> AbstractContextManager[None]:
    """See :func:`components.judge.placement.standing.standing`; on this machine it does nothing and needs no
    modules."""
    if cluster.placement != "kubernetes":
        return contextlib.nullcontext()
    standing = cast(Callable[..., AbstractContextManager[None]], importlib.import_module(_STANDING).standing)
    return standing(judges, cluster, experiment=experiment, progress=progress)
