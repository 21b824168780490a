"""Building and running containers on a machine without an image registry: a base of its own, and the host's pip."""

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = "localhost/gavel-test-base:bookworm"
BASE_FILE_VARIABLE = "GAVEL_TEST_BASE"
"""Names a tar file of a root file system to begin with, instead of making one."""
_PACKAGES = "python3,python3-venv,python3-pip,ca-certificates,wget"
# crun refuses some machines' control groups, and limits cannot be raised everywhere.
_CONFIGURATION = """[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
[engine]
runtime = "runc"
"""
_PASSED_ON = ("cert", "constraint", "find-links", "extra-index-url", "index-url", "default-timeout", "proxy")
RESTRICTED = (
    "--network=none",
    "--read-only",
    "--read-only-tmpfs=false",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--tmpfs=/tmp:rw,mode=1777,exec",
    "--tmpfs=/state:rw,mode=1777,exec",
    "--tmpfs=/home/gavel:rw,mode=1777",
)
"""As a pod under the profile "restricted" with a read-only root file system and emptyDir volumes."""


def missing() -> str:
    """Why containers cannot be built here; empty if they can."""
    if os.geteuid() != 0:
        return "building on a base of one's own needs root"
    lacking = [name for name in ("podman", "runc") if shutil.which(name) is None]
    if not lacking and not os.environ.get(BASE_FILE_VARIABLE) and shutil.which("mmdebstrap") is None:
        lacking = ["mmdebstrap"]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def configure(folder: Path) -> None:
    """Point podman at settings that work on most machines."""
    path = folder / "containers.conf"
    path.write_text(_CONFIGURATION)
    os.environ.setdefault("CONTAINERS_CONF", str(path))


def podman(*arguments: str, check: bool = True, timeout: float = 600) -> "subprocess.CompletedProcess[str]":
    """Run podman; its errors become the test's."""
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=False, timeout=timeout)
    assert not check or done.returncode == 0, (
        f"podman {' '.join(arguments)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    )
    return done


def make_base(folder: Path) -> str:
    """The base image, made once a machine: Debian's smallest system with Python."""
    if podman("image", "exists", BASE, check=False).returncode == 0:
        return BASE
    tar = Path(os.environ.get(BASE_FILE_VARIABLE) or folder / "base.tar")
    if not tar.exists():
        command = ["mmdebstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(tar)]
        subprocess.run(command, check=True, capture_output=True, timeout=900)
    podman("import", str(tar), BASE)
    return BASE


def build_flags(folder: Path) -> list[str]:
    """Options of ``podman build`` with which pip in it reaches what pip on this machine reaches."""
    settings = _pip_settings()
    mounts = {Path(ssl.get_default_verify_paths().openssl_capath or "/etc/ssl/certs")}
    for value in settings.values():
        for word in value.split():
            path = Path(word.removeprefix("file://"))
            if path.is_absolute() and path.exists():
                mounts.add(path.parent if path.name == "simple" or path.is_file() else path)
    settings.setdefault("cert", str(ssl.get_default_verify_paths().cafile or ""))
    file = folder / "pip.conf"
    file.write_text("[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items() if value))
    flags = ["--network=host", f"--volume={file}:/etc/pip.conf:ro"]
    return flags + [f"--volume={path}:{path}:ro" for path in sorted(mounts) if path.is_dir()]


def _pip_settings() -> dict[str, str]:
    command = [sys.executable, "-m", "pip", "config", "list"]
    found = {}
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        name, _, value = line.partition("=")
        key = name.rpartition(".")[2]
        if key in _PASSED_ON:
            found[key] = value.strip("'\"").replace("\\n", " ")
    return found


def build(name: str, base: str, folder: Path) -> str:
    """Build a set by the project's own command; returns the image's name."""
    flags = " ".join(build_flags(folder))
    command = ["nice", sys.executable, str(ROOT / "images/build.py"), "--engine=podman", f"--sets={name}", "--tag=test"]
    command += [f"--base={base}", "--registry=localhost/gavel-test", f"--build-flags={flags}"]
    command += [f"--output={folder / 'images.json'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    assert done.returncode == 0, done.stderr[-6000:]
    return f"localhost/gavel-test/{name}:test"


def run(image: str, command: Sequence[str], *options: str, user: str = "", check: bool = True) -> str:
    """What a command prints in a container under the restricted profile."""
    identity = [f"--user={user}"] if user else []
    return podman("run", "--rm", *RESTRICTED, *identity, *options, image, *command, check=check).stdout
