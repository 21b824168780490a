"""What a run on the cluster was asked to do, from its parameters."""

import os
from typing import Any

from components.core.errors import GavelError
from components.core.request import Request
from components.core.spec import Experiment
from pipelines.remote.connect import Remote
from pipelines.remote.errors import KfpError

_NAMESPACE = "gavel"


def parameters_of(run: Any) -> dict[str, str]:
    """The run's parameters."""
    found = (run.runtime_config.parameters if run.runtime_config else None) or {}
    return {key: str(value) for key, value in found.items()}


def experiment_of(run: Any) -> Experiment:
    """The experiment as the run's first task resolved it.

    Raises:
        KfpError: the run is none of Gavel's.
        ConfigError: this checkout does not read it, as when it names a judge that is not here.
    """
    given = parameters_of(run)
    if not given.get("experiment"):
        raise KfpError(
            f"run {run.run_id} has no experiment among its parameters", where="KFP", remedy="name a run of Gavel"
        )
    names = ("experiment", "judge", "seed", "start_from")
    return Request(**{name: given.get(name, "") for name in names}).resolve()


def namespace_of(remote: Remote, run: Any) -> str:
    """Where the run's pods are, as far as can be told."""
    if remote.namespace or os.environ.get("KFP_NAMESPACE"):
        return remote.namespace or os.environ["KFP_NAMESPACE"]
    try:
        kubernetes = experiment_of(run).cluster.kubernetes
    except GavelError:
        kubernetes = None
    return _NAMESPACE if kubernetes is None else kubernetes.namespace
