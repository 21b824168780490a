"""A sandbox of each level that this machine permits."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from hypothesis import settings
from sandbox_limits import LIMITS, Run

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON
from components.sandbox.sandbox import Sandbox

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture(scope="session", params=["namespaces", "filter"])
def level(request: pytest.FixtureRequest) -> str:
    sandbox = Sandbox(level=request.param, concurrency=1)
    try:
        return sandbox.start()
    except ServiceError as error:
        pytest.skip(f"not permitted on this machine: {error.where}")
    finally:
        asyncio.run(sandbox.close())


@pytest.fixture(scope="session")
def run(level: str) -> Iterator[Run]:
    """One call in a sandbox of :data:`LIMITS` that all tests share: none may harm the next."""
    sandbox = Sandbox(LIMITS, level=level, concurrency=1)
    yield lambda source, *arguments: asyncio.run(sandbox.run(source, "f", arguments))
    asyncio.run(sandbox.close())


@pytest.fixture(scope="session")
def hasty(level: str) -> Iterator[Run]:
    """As ``run``, with half a second of wall time; for calls that never end."""
    sandbox = Sandbox(dataclasses.replace(LIMITS, wall_seconds=0.5), level=level, concurrency=1)
    yield lambda source, *arguments: asyncio.run(sandbox.run(source, "f", arguments))
    asyncio.run(sandbox.close())


@pytest.fixture
async def forking(level: str) -> AsyncIterator[Callable[[str, list[JSON]], object]]:
    """As ``run``, and the code may start processes."""
    limits = Limits(cpu_seconds=1, wall_seconds=5.0, processes=8)
    sandbox = Sandbox(limits, level=level, concurrency=1)
    yield lambda source, arguments: sandbox.run(source, "f", arguments)
    await sandbox.close()
