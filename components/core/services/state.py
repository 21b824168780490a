"""The folder of everything local and temporary."""

import os
from pathlib import Path

STATE_VARIABLE = "GAVEL_STATE"


def state_folder() -> Path:
    """``$GAVEL_STATE``, or ``.gavel`` in the current folder, as an absolute path."""
    return Path(os.environ.get(STATE_VARIABLE) or ".gavel").absolute()
