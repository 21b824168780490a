"""The experiment's judges at work outside of a pipeline."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ConfigError, GavelError
from components.core.progress import Progress
from components.judge.deployed import keeping
from components.judge.endpoint import Endpoint, forget_endpoint, record_endpoint
from components.judge.placement.base import choose_placement

if TYPE_CHECKING:
    from components.core.spec import Experiment


def need_starting(experiment: "Experiment", endpoint: str | None) -> bool:
    """Whether a judge has to be started on this machine."""
    return endpoint is None and any(judge.serving != "external" for judge in experiment.judges())


@contextlib.contextmanager
def at_work(experiment: "Experiment", state: Path, progress: Progress, endpoint: str | None) -> Iterator[None]:
    """Judges that answer: at the given place, or brought up here and ended afterwards.

    Args:
        experiment: with one judge or a panel.
        state: folder in which is written down where they answer.
        progress: is told what goes on.
        endpoint: base URL of the one judge, without ``/v1``.

    Raises:
        ConfigError: one endpoint for several judges, or for one that names its own.
        GavelError: a judge does not come up.
    """
    judges = experiment.judges()
    if endpoint is not None:
        if len(judges) > 1 or judges[0].serving == "external":
            what = (
                "a panel's judges" if len(judges) > 1 else f"judge {judges[0].name}, which has an endpoint of its own"
            )
            raise ConfigError(
                f"--endpoint cannot place {what}", where=endpoint, remedy="leave it out, or set judge.endpoint=URL"
            )
        record_endpoint(judges[0].name, state, Endpoint(endpoint.rstrip("/"), judges[0].model_name))
        try:
            yield
        finally:
            forget_endpoint(judges[0].name, state)
        return
    placements = [choose_placement(judge, experiment.cluster, state, experiment=experiment.name) for judge in judges]
    try:
        for placement in placements:
            placement.up(progress)
        with keeping(judges, experiment.cluster, experiment.name, progress):
            yield
    finally:
        for placement in placements:
            # The others are ended all the same; what is left over ends with the supervising command.
            with contextlib.suppress(GavelError):
                placement.down()
