"""Steps with an account of their own in a real store: all their work, and nothing beside it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_server import KEYS, server

from components.cluster_setup import bucket
from components.core.errors import StorageError
from components.core.store import Store
from components.core.store.s3_client import S3Settings, check_bucket

pytestmark = pytest.mark.s3
STEPS = {"AWS_ACCESS_KEY_ID": "gavel-steps", "AWS_SECRET_ACCESS_KEY": "fedcba9876543210"}
PART = 5 << 20


def identity(keys: dict[str, str], *actions: str) -> object:
    credentials = [{"accessKey": keys["AWS_ACCESS_KEY_ID"], "secretKey": keys["AWS_SECRET_ACCESS_KEY"]}]
    return {"name": keys["AWS_ACCESS_KEY_ID"], "credentials": credentials, "actions": list(actions)}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store with two buckets, and the limited account in the environment."""
    limited = [f"{action}:gavel" for action in ("Read", "Write", "List", "Tagging")]
    identities = [identity(KEYS, "Admin"), identity(STEPS, *limited)]
    (tmp_path / "identities.json").write_text(json.dumps({"identities": identities}))
    with server(tmp_path, f"-s3.config={tmp_path / 'identities.json'}") as url:
        for name, value in {**KEYS, "GAVEL_S3_ENDPOINT": url}.items():
            monkeypatch.setenv(name, value)
        bucket.ensure("gavel", seconds=20, pause=1)
        check_bucket(S3Settings.from_environment(), "elses", create=True)
        Store.open("s3://elses/x").write_bytes("secret", b"1")
        for name, value in STEPS.items():
            monkeypatch.setenv(name, value)
        yield url


def test_it_is_enough_for_results_and_for_nothing_else(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("s3", "transfer"):
        monkeypatch.setattr(f"components.core.store.{module}.PART_SIZE", PART)
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "model.bin").write_bytes(os.urandom(2 * PART + 3))
    (folder / "small.json").write_text("{}")
    ours = Store.open("s3://gavel/runs")
    ours.upload(folder, "x")
    ours.download("x", tmp_path / "back")
    assert (tmp_path / "back" / "model.bin").read_bytes() == (folder / "model.bin").read_bytes()
    assert ours.exists("x/small.json")
    ours.delete("x")
    assert ours.list() == []
    with pytest.raises(StorageError, match="access denied"):
        Store.open("s3://elses/x").read_bytes("secret")
    with pytest.raises(StorageError, match="access denied"):
        Store.open("s3://elses/x").write_bytes("mine", b"2")
    with pytest.raises(StorageError, match="access denied"):
        check_bucket(S3Settings.from_environment(), "new", create=True)
