"""A step's work with a played driver."""

from pathlib import Path

import pytest
from ray_training import Played, on_cluster


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path, on_cluster("dev"))


@pytest.fixture
def queued(tmp_path: Path) -> Played:
    """On a cluster with Kueue."""
    return Played(tmp_path, on_cluster("h800"))
