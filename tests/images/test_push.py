"""A real push by podman to a registry that keeps it, loses it, or refuses it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from container_machine import podman
from registry_double import Registry

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "images"))
from container_engine import BuildError, Engine  # noqa: E402

pytestmark = [pytest.mark.images, pytest.mark.slow]
PLAIN = ["--tls-verify=false"]


@pytest.fixture
def registry() -> Iterator[Registry]:
    server = Registry()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["podman", "buildah"])
def engine(machine: Path, request: pytest.FixtureRequest) -> Engine:
    try:
        return Engine.find(request.param)
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture
def small(machine: Path, tmp_path: Path, registry: Registry) -> Iterator[str]:
    """An image of one file."""
    (tmp_path / "file").write_text(tmp_path.name)
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY file /file\n")
    name = f"{registry.name}/team/small:1"
    podman("build", "-t", name, "-f", str(tmp_path / "Dockerfile"), str(tmp_path))
    yield name
    # By its id: pulled by digest, it has a second name.
    podman(
        "image", "rm", "--force", podman("image", "inspect", "--format", "{{.Id}}", name).stdout.strip(), check=False
    )


def test_what_arrived_is_named_by_its_digest(engine: Engine, small: str, registry: Registry) -> None:
    pinned = engine.push(small, PLAIN)
    name, _, digest = pinned.partition("@")
    assert name == small.rpartition(":")[0]
    assert digest in registry.manifests
    assert registry.manifests["1"] == registry.manifests[digest]


def test_what_the_registry_lost_is_an_error_though_the_engine_says_pushed(
    engine: Engine, small: str, registry: Registry
) -> None:
    registry.forgetful = True
    with pytest.raises(BuildError, match="was pushed, but the registry does not give out"):
        engine.push(small, PLAIN)


def test_a_registry_that_refuses(engine: Engine, small: str, registry: Registry) -> None:
    registry.refusing = True
    with pytest.raises(BuildError, match=r"refuses these credentials(.|\n)*login"):
        engine.push(small, PLAIN)


def test_no_registry_there(engine: Engine, machine: Path, small: str, registry: Registry) -> None:
    registry.shutdown()
    registry.server_close()
    with pytest.raises(BuildError, match="cannot be reached"):
        engine.push(small, PLAIN)
