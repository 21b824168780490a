"""The bucket's job, on SeaweedFS started with the very arguments of the component store-seaweedfs."""

import os
import subprocess
import sys

import pytest
from manifest_objects import named
from store_server import KEYS

from components.cluster_setup import bucket
from components.core.errors import StorageError


def test_a_store_that_is_still_starting_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([StorageError("connection refused"), StorageError("connection refused"), None])

    def check(settings: object, name: str, *, create: bool) -> None:
        assert (name, create) == ("gavel", True)
        if error := next(answers):
            raise error

    monkeypatch.setattr(bucket, "check_bucket", check)
    monkeypatch.setattr(bucket, "end_unfinished", lambda settings, name: "")
    for key, value in {**KEYS, "GAVEL_S3_ENDPOINT": "http://store.test:9000"}.items():
        monkeypatch.setenv(key, value)
    slept: list[float] = []
    bucket.ensure("gavel", sleep=slept.append, pause=3.0)
    assert slept == [3.0, 3.0]


def test_what_does_not_mend_is_the_last_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*arguments: object, **settings: object) -> None:
        raise StorageError("wrong secret key")

    monkeypatch.setattr(bucket, "check_bucket", check)
    for key, value in {**KEYS, "GAVEL_S3_ENDPOINT": "http://store.test:9000"}.items():
        monkeypatch.setenv(key, value)
    with pytest.raises(StorageError, match="wrong secret key"):
        bucket.ensure("gavel", seconds=1.0, pause=2.0)


def run(endpoint: str, **keys: str) -> subprocess.CompletedProcess[str]:
    (container,) = named("seaweedfs", "Job", "gavel-bucket")["spec"]["template"]["spec"]["containers"]
    _, *words = container["command"]
    code = f"import sys; from components.cluster_setup import bucket; bucket.ensure({words[-1]!r}, seconds=8, pause=1)"
    command = [sys.executable, *words] if not keys else [sys.executable, "-c", code]
    return subprocess.run(
        command, env={**os.environ, **KEYS, **keys, "GAVEL_S3_ENDPOINT": endpoint}, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.s3
def test_the_job_makes_the_bucket_once_and_finds_it_then_and_a_wrong_secret_is_refused(seaweedfs: str) -> None:
    for _ in range(2):
        done = run(seaweedfs)
        assert done.returncode == 0, done.stderr
        assert "bucket gavel is there" in done.stdout
        assert "unfinished uploads end after 7 days" in done.stdout
    refused = run(seaweedfs, AWS_SECRET_ACCESS_KEY="wrong")
    assert refused.returncode == 1
    assert "wrong secret key" in refused.stdout + refused.stderr
