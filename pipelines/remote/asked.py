"""What a run on the cluster was asked to do, from its parameters."""

import os
from typing import Any

from components.core.request import Request
from components.core.spec import Experiment
from components.core.spec.study_load import load_study
from pipelines.remote.connect import Remote
from pipelines.remote.errors import KfpError

_STANDALONE = "kubeflow"


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
        what = f"run {run.run_id} has no experiment among its parameters"
        raise KfpError(what, where="RUN", remedy="name a run of Gavel; make runs lists them")
    names = ("experiment", "judge", "seed", "start_from")
    return Request(**{name: given.get(name, "") for name in names}).resolve()


def asked_of(run: Any) -> tuple[Experiment, str]:
    """The run's experiment, or the first arm of its study, and the name of what was asked for.

    Raises:
        KfpError: the run is none of Gavel's.
        ConfigError: this checkout does not read it.
    """
    text = parameters_of(run).get("study")
    if text:
        study = load_study(text)
        return study.arms[0].experiment, study.spec.name
    experiment = experiment_of(run)
    return experiment, experiment.name


def namespace_of(remote: Remote) -> str:
    """Where the pods of runs are: the user's namespace, or where KFP serves no several users, its own."""
    return remote.namespace or os.environ.get("KFP_NAMESPACE") or _STANDALONE
