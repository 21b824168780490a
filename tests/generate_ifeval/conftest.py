"""The wiring model, made once."""

from pathlib import Path

import pytest

from components.core.spec.source import TinySource
from components.models.materialize import materialize


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def other_model(cache: Path) -> Path:
    return materialize(TinySource(kind="tiny", seed=3), cache)
