"""A machine that does not do is refused before anything starts."""

import sys
from collections import namedtuple
from pathlib import Path

import pytest

from components.core.errors import ServiceError
from components.core.spec import load_experiment
from pipelines import preflight
from pipelines.preflight import check_machine


@pytest.fixture
def tiny():
    return load_experiment("tiny", ["cluster.memory_gib=0.5", "cluster.disk_gib=0.01"])


def test_this_machine_does(tiny, tmp_path: Path):
    check_machine(tiny, tmp_path / "state")


@pytest.mark.parametrize("version", [(3, 10, 4), (3, 13, 0), (3, 14, 1)])
def test_other_pythons_are_named_with_those_that_work(tiny, tmp_path: Path, monkeypatch, version):
    info = namedtuple("info", "major minor micro")(*version)
    monkeypatch.setattr(sys, "version_info", info)
    with pytest.raises(ServiceError, match=rf"Python {version[0]}\.{version[1]} is not supported.*3\.11 and 3\.12"):
        check_machine(tiny, tmp_path)


def test_too_little_memory(tmp_path: Path):
    experiment = load_experiment("tiny", ["cluster.memory_gib=100000"])
    with pytest.raises(ServiceError, match=r"GiB of memory are free, and the run needs 100000"):
        check_machine(experiment, tmp_path)


def test_too_little_disk(tmp_path: Path, monkeypatch):
    experiment = load_experiment("tiny", ["cluster.memory_gib=0.5", "cluster.disk_gib=1000000"])
    with pytest.raises(ServiceError, match=r"GiB of disk are free") as caught:
        check_machine(experiment, tmp_path / "s")
    assert str(tmp_path / "s") in caught.value.where


def test_a_processor_without_packages(tiny, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(preflight.platform, "machine", lambda: "riscv64")
    with pytest.raises(ServiceError, match="riscv64"):
        check_machine(tiny, tmp_path)


def test_arm64_is_accepted(tiny, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(preflight.platform, "machine", lambda: "aarch64")
    check_machine(tiny, tmp_path)


def test_a_machine_without_enough_gpus(tmp_path: Path, monkeypatch):
    experiment = load_experiment(
        "tiny", ["cluster=local-gpu", "cluster.gpus=2", "cluster.gpus_per_node=2", "training.micro_batch=8"]
    )
    monkeypatch.setattr(preflight, "_DEVICES", tmp_path)
    with pytest.raises(ServiceError, match="no NVIDIA GPU found, and the run needs 2") as caught:
        check_machine(experiment, tmp_path)
    assert "cluster=local-cpu" in caught.value.remedy
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    with pytest.raises(ServiceError, match="1 NVIDIA GPU found, and the run needs 2"):
        check_machine(experiment, tmp_path)
