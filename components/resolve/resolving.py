"""What the component resolve hands on."""

from typing import NamedTuple

from components.core.request import Request, store_url
from components.core.step.kfp import boundary


class Resolved(NamedTuple):
    """What the other tasks of a run get.

    Attributes:
        experiment: as JSON, with every name looked up.
        store: URL of the store's root.
        ifeval: whether the experiment has ``evaluation.ifeval``.
        base: whether the policy before training is asked for too.
        judged: whether anybody but rules decides.
    """

    experiment: str
    store: str
    ifeval: bool
    base: bool
    judged: bool


def kfp_resolve(request: Request, store: str = "", base: str = "") -> Resolved:
    """Resolve a run's parameters inside a KFP component.

    Args:
        request: the experiment, and what replaces parts of it.
        store: URL of the store's root; empty takes the cluster's.
        base: anything but nothing, 0 or false asks for the policy before training.

    Raises:
        SystemExit: with status 1, after the mistakes were printed.
    """
    with boundary("resolve"):
        experiment = request.resolve()
        asked = base.strip().lower() not in ("", "0", "false", "no")
        ifeval = experiment.evaluation.ifeval is not None
        return Resolved(experiment.to_json(), store_url(experiment, store), ifeval, asked, bool(experiment.served()))
