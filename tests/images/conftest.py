"""Images that are built once for all tests."""

from collections.abc import Iterator
from pathlib import Path

import container_machine
import pytest


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for builds, on a machine where they work."""
    if reason := container_machine.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("containers")
    container_machine.configure(folder)
    return folder


@pytest.fixture(scope="session")
def base(machine: Path) -> str:
    return container_machine.make_base(machine)


@pytest.fixture(scope="session")
def tools(base: str, machine: Path) -> Iterator[str]:
    """The image of the light steps."""
    name = container_machine.build("tools", base, machine)
    yield name
    container_machine.podman("image", "rm", "--force", name)


@pytest.fixture(scope="session")
def cpu(base: str, machine: Path) -> Iterator[str]:
    """The image of all steps on CPUs."""
    name = container_machine.build("cpu", base, machine)
    yield name
    container_machine.podman("image", "rm", "--force", name)
