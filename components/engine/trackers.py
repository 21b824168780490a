"""Trackers outside of the run: Weights & Biases and MLflow, which verl logs to beside its own files.

verl names them as we do, and reads their settings from the environment; nothing of these is in the experiment.
"""

import importlib.util
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from components.core.errors import ConfigError
from components.core.spec.secrets import is_secret
from components.core.spec.training import TrainingSpec

ALWAYS: Final = ("console", "tensorboard", "file")
"""verl's loggers of every run; the file is what the step reads."""
SECRETS: Final[Mapping[str, Sequence[str]]] = {
    "wandb": ("WANDB_API_KEY",),
    "mlflow": ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"),
}
"""Tracker -> variables that hold its keys. They are handed on as they are, and never written anywhere."""
_NOWHERE: Final = ("offline", "dryrun", "disabled")
"""Values of WANDB_MODE that need no key."""


def loggers(training: TrainingSpec) -> list[str]:
    """Names for verl's ``trainer.logger``."""
    return [*ALWAYS, *training.trackers]


def tracking_environment(training: TrainingSpec, work: Path) -> dict[str, str]:
    """Variables for the trainer beside those that it inherits.

    Args:
        training: with the trackers.
        work: the training step's folder, ``work/<experiment>/<step>/<identity>`` in the state folder. Starts of one
            training are one group in wandb, whose files go to ``wandb`` in the state folder: what was written offline
            outlives the work folder.
    """
    if "wandb" not in training.trackers:
        return {"WANDB_MODE": "disabled"}
    # wandb makes its folder ``wandb`` in this one; where that is missing, in the system's temporary one.
    files = work.parents[3] if len(work.parents) > 3 else work
    files.mkdir(parents=True, exist_ok=True)
    given = {"WANDB_DIR": str(files), "WANDB_RUN_GROUP": work.name[:32]}
    return {name: os.environ.get(name) or value for name, value in given.items()}


def check_trackers(training: TrainingSpec, environment: Mapping[str, str] = os.environ) -> None:
    """Refuse a tracker that could not work, before anything is trained.

    Args:
        training: with the trackers.
        environment: that the trainer will inherit.

    Raises:
        ConfigError: a package is not installed, or a key or an address is not set; never with what is set.
    """
    for name in training.trackers:
        where = f"training.trackers: {name}"
        if importlib.util.find_spec(name) is None:
            raise ConfigError(
                f"the package {name} is not installed",
                where=where,
                remedy=f"install it where the trainer runs (on a cluster: in the trainer's image), or leave {name} out",
            )
        if name == "wandb":
            _check_wandb(environment, where)
        else:
            _check_mlflow(environment, where)


def _check_wandb(environment: Mapping[str, str], where: str) -> None:
    mode = environment.get("WANDB_MODE", "").strip().lower()
    if mode not in _NOWHERE and not environment.get("WANDB_API_KEY", "").strip():
        raise ConfigError(
            "WANDB_API_KEY is not set",
            where=where,
            remedy="put the key into that variable of the environment, never into the experiment; or set "
            "WANDB_MODE=offline, which writes to the state folder alone",
        )
    if is_secret(environment.get("WANDB_BASE_URL", "")):
        raise ConfigError(
            "WANDB_BASE_URL holds a password (not shown)", where=where, remedy="give the address alone there"
        )


def _check_mlflow(environment: Mapping[str, str], where: str) -> None:
    address = environment.get("MLFLOW_TRACKING_URI", "").strip()
    if not address:
        raise ConfigError(
            "MLFLOW_TRACKING_URI is not set",
            where=where,
            remedy="give the server's address, such as http://HOST:5000, or a file, such as sqlite:////FOLDER/runs.db",
        )
    if is_secret(address):
        raise ConfigError(
            "MLFLOW_TRACKING_URI holds a password (not shown), which verl would log",
            where=where,
            remedy="put it into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
        )
