"""Reaching the embedded S3 server, where a local run has published to it."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.state import s3_folder
from components.core.services.supervisor import supervise

_ENDPOINT = "GAVEL_S3_ENDPOINT"


@contextlib.contextmanager
def reaching(uri: str, state: Path) -> Iterator[None]:
    """Have the store of ``uri`` answer while the block lasts.

    Nothing is done for folders, nor where the environment names an S3 server. The embedded one is used as it runs;
    where it does not, it runs for as long as the block, and this command is the state folder's supervisor meanwhile.

    Raises:
        ServiceError: the server does not start.
    """
    if not uri.startswith("s3://") or os.environ.get(_ENDPOINT) or not s3_folder(state).is_dir():
        yield
        return
    if ServiceManager(state).find(seaweedfs.NAME) is not None:
        with _variables(seaweedfs.start(state)):
            yield
        return
    with supervise(state) as manager, _variables(seaweedfs.start(state, manager=manager)):
        yield


@contextlib.contextmanager
def _variables(given: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
