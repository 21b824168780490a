"""A configs folder of one's own, and a way to say what an experiment's error must tell."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec.load import DEFAULT_CONFIGS, load_experiment


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """A copy of the shipped configs that a test may change."""
    folder = tmp_path / "configs"
    shutil.copytree(DEFAULT_CONFIGS, folder)
    return folder


@pytest.fixture
def refused(configs: Path) -> Callable[..., str]:
    """Load an experiment that must be refused; returns the message."""

    def load(*overrides: str, experiment: str | Path = "tiny") -> str:
        with pytest.raises(ConfigError) as caught:
            load_experiment(experiment, overrides, configs)
        return str(caught.value)

    return load
