"""A checkout that may submit: images with digests, and no settings of the machine that runs the tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from kfp_double import KfpDouble

DIGEST = "sha256:" + "a" * 64
IMAGES = {name: f"registry.test/gavel/{name}@{DIGEST}" for name in ("tools", "trainer", "evaluation")}


@pytest.fixture
def kfp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[KfpDouble]:
    for name in list(os.environ):
        if name.startswith(("KFP_", "KF_PIPELINES", "GAVEL_", "AWS_")):
            monkeypatch.delenv(name)
    for name, image in IMAGES.items():
        monkeypatch.setenv(f"GAVEL_IMAGE_{name.upper()}", image)
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "no-kubeconfig"))
    double = KfpDouble()
    monkeypatch.setenv("KFP_HOST", double.url)
    yield double
    double.close()
