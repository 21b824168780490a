"""A real S3 server for the tests that ask for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId

S3_VARIABLES = ("GAVEL_S3_ENDPOINT", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of the clients of one SeaweedFS for all tests."""
    state = tmp_path_factory.mktemp("s3-state")
    manager = ServiceManager(state, ProcessId.current())
    try:
        yield seaweedfs.start(state, manager=manager)
    finally:
        manager.end_all()


@pytest.fixture
def s3(
    s3_server: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> str:
    """URL of a prefix of this test's own, with the environment set for it."""
    for name, value in s3_server.items():
        monkeypatch.setenv(name, value)
    return f"s3://{seaweedfs.BUCKET}/{tmp_path.name}"
