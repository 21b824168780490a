"""The wiring model, made once, and where models are made."""

from pathlib import Path

import pytest
from hypothesis import settings

from components.core.spec.source import TinySource
from components.models.materialize import materialize

# A busy machine is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def tiny_model(cache: Path) -> Path:
    return materialize(TinySource(kind="tiny", seed=3), cache)
