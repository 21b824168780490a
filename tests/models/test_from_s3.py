"""Models in a real S3: published and plain folders."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.core.errors import GavelError
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId
from components.core.spec.source import TinySource, UriSource
from components.core.store import Store
from components.models.materialize import materialize

pytestmark = pytest.mark.s3


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    manager = ServiceManager(tmp_path / "state", ProcessId.current())
    try:
        for name, value in seaweedfs.start(tmp_path / "state", manager=manager).items():
            monkeypatch.setenv(name, value)
        yield f"s3://{seaweedfs.BUCKET}"
    finally:
        manager.end_all()


def test_models_of_a_bucket(bucket: str, tmp_path: Path) -> None:
    made = materialize(TinySource(kind="tiny", seed=1), tmp_path / "made")
    model = Path(shutil.copytree(made, tmp_path / "model", ignore=shutil.ignore_patterns("complete.json")))
    store = Store.open(bucket)
    store.upload(model, "runs/published")
    for path in model.iterdir():
        store.write_bytes(f"plain/{path.name}", path.read_bytes())
        # A neighbour whose name begins the same is no part of it.
        store.write_bytes(f"plainer/{path.name}", b"x")
    for key in ("runs/published", "plain"):
        folder = materialize(UriSource(kind="uri", uri=f"{bucket}/{key}"), tmp_path / "cache")
        assert {path.name for path in model.iterdir()} <= {path.name for path in folder.iterdir()}
        assert all((folder / path.name).read_bytes() == path.read_bytes() for path in model.iterdir()), key
    with pytest.raises(GavelError, match="nothing at this URL"):
        materialize(UriSource(kind="uri", uri=f"{bucket}/plai"), tmp_path / "cache")
