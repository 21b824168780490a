"""What a run needs of this machine, checked before anything is started."""

import platform
import shutil
import sys
from pathlib import Path

import psutil

from components.core.errors import ServiceError
from components.core.spec import Experiment

_PYTHONS = ((3, 11), (3, 12))
_MACHINES = ("x86_64", "amd64", "aarch64", "arm64")
_GIB = 1024**3
_DEVICES = Path("/dev")
"""NVIDIA's driver makes one device file a card here, also inside containers, for the cards that they may use."""


def check_machine(experiment: Experiment, state: Path) -> None:
    """Refuse a machine on which the run would fail half way.

    Raises:
        ServiceError: the Python version, the processor, the memory or the free disk does not do.
    """
    version = sys.version_info[:2]
    if version not in _PYTHONS:
        known = " and ".join(".".join(map(str, pair)) for pair in _PYTHONS)
        raise ServiceError(
            f"Python {version[0]}.{version[1]} is not supported; verl runs on {known}",
            where=sys.executable,
            remedy="install one of them, then: make clean-venv && make setup PYTHON=python3.11",
        )
    if platform.machine().lower() not in _MACHINES:
        raise ServiceError(f"no packages are known for a {platform.machine()} processor", remedy="use x86-64 or arm64")
    if sys.platform != "linux":
        raise ServiceError(f"local runs need Linux, not {sys.platform}", remedy="use a container or a virtual machine")
    _check_gpus(experiment)
    _check_memory(experiment)
    _check_disk(experiment, state)


def _check_gpus(experiment: Experiment) -> None:
    cluster = experiment.cluster
    found = len(list(_DEVICES.glob("nvidia[0-9]*"))) if cluster.accelerator == "gpu" else 0
    if cluster.accelerator == "gpu" and found < cluster.gpus:
        raise ServiceError(
            f"{found or 'no'} NVIDIA GPU{'s' if found > 1 else ''} found, and the run needs {cluster.gpus}",
            where=f"{_DEVICES} (cluster.gpus)",
            remedy="add cluster=local-cpu to run on the processor, or lower cluster.gpus and cluster.gpus_per_node",
        )


def _check_memory(experiment: Experiment) -> None:
    available = _available_memory()
    needed = experiment.cluster.memory_gib * _GIB
    if available < needed:
        raise ServiceError(
            f"{available / _GIB:.1f} GiB of memory are free, and the run needs {experiment.cluster.memory_gib:g}",
            where="cluster.memory_gib",
            remedy="close other programs, or use a machine with more memory",
        )


def _available_memory() -> float:
    """Bytes that a new process may use: what the system has to give, or less inside a container with a limit."""
    available = float(psutil.virtual_memory().available)
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    try:
        text = limit.read_text().strip()
        if text.isdigit():
            return min(available, int(text) - int(used.read_text()))
    except (OSError, ValueError):
        pass
    return available


def _check_disk(experiment: Experiment, state: Path) -> None:
    state.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(state).free
    needed = experiment.cluster.disk_gib * _GIB
    if free < needed:
        raise ServiceError(
            f"{free / _GIB:.1f} GiB of disk are free, and the run needs {experiment.cluster.disk_gib:g}",
            where=f"{state} (cluster.disk_gib)",
            remedy="free some space, or set GAVEL_STATE to a folder on a larger disk",
        )
