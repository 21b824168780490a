"""The folder of everything local and temporary, and the folder of the sources."""

import os
from pathlib import Path

import components

STATE_VARIABLE = "GAVEL_STATE"


def state_folder() -> Path:
    """``$GAVEL_STATE``, or ``.gavel`` in the current folder, as an absolute path."""
    return Path(os.environ.get(STATE_VARIABLE) or ".gavel").absolute()


def source_root() -> Path:
    """The folder that holds the package ``components``."""
    return Path(components.__file__).resolve().parent.parent


def s3_folder(state: Path) -> Path:
    """Where the embedded S3 server keeps its data and credentials."""
    return state / "s3"
