"""The folder of everything local and temporary, and the folder of the sources."""

import os
from pathlib import Path

import components

STATE_VARIABLE = "GAVEL_STATE"
SOURCES = "$GAVEL/"
"""Stands in the text of an experiment or a study for the folder of the sources, which lies elsewhere in an image."""


def state_folder() -> Path:
    """``$GAVEL_STATE``, or ``.gavel`` in the current folder, as an absolute path."""
    return Path(os.environ.get(STATE_VARIABLE) or ".gavel").absolute()


def source_root() -> Path:
    """The folder that holds the package ``components``."""
    return Path(components.__file__).resolve().parent.parent


def with_sources(text: str) -> str:
    """The text, with the folder of the sources as it is here."""
    return text.replace(SOURCES, f"{source_root()}/")


def s3_folder(state: Path) -> Path:
    """Where the embedded S3 server keeps its data and credentials."""
    return state / "s3"
