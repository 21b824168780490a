"""A small HTTP server that plays a service, in ways that tests choose."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId

PROGRAM = Path(__file__).with_name("service_sample.py")


@pytest.fixture
def sample() -> Callable[..., list[str]]:
    """Command line of the sample service."""
    return lambda *behaviour: [sys.executable, str(PROGRAM), "{port}", *behaviour]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ServiceManager]:
    manager = ServiceManager(tmp_path / "state", ProcessId.current())
    yield manager
    manager.end_all()


@pytest.fixture
def gone() -> Callable[[ProcessId], bool]:
    """Whether a process ends within half a minute."""

    def wait(process: ProcessId) -> bool:
        deadline = time.monotonic() + 30
        while process.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not process.alive()

    return wait
