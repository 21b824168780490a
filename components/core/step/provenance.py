"""Where and with what a step ran: git revision, machine, row counts."""

import os
import platform
import re
import subprocess
from pathlib import Path

from components.core.errors import ContractError
from components.core.manifest import GitState, Scalar
from components.core.step.source import ROOT

REVISION_VARIABLE = "GAVEL_REVISION"


def git_state(root: Path = ROOT) -> GitState | None:
    """Revision of the checkout at ``root`` and whether it was changed since; None when it is not known.

    In an image there is no checkout, but ``$GAVEL_REVISION``, which ``make images`` set: the revision, with ``-dirty``
    for changes.
    """
    if not (root / ".git").exists():
        built_from = os.environ.get(REVISION_VARIABLE, "")
        revision = built_from.removesuffix("-dirty")
        known = re.fullmatch(r"[0-9a-f]{40,64}", revision)
        return GitState(revision=revision, dirty=revision != built_from) if known else None
    head = _git(root, "rev-parse", "HEAD")
    status = _git(root, "status", "--porcelain")
    return None if head is None or status is None else GitState(revision=head, dirty=bool(status))


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def host() -> dict[str, Scalar]:
    """What of the machine may show in timings."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpus": usable, "machine": platform.machine(), "system": platform.system(), "release": platform.release()}


def parquet_rows(folder: Path) -> dict[str, int]:
    """Rows of each parquet file below ``folder``, from its footer.

    Raises:
        ContractError: a file with that ending is not parquet.
    """
    import pyarrow
    import pyarrow.parquet

    rows = {}
    for path in sorted(folder.rglob("*.parquet")):
        try:
            rows[path.relative_to(folder).as_posix()] = int(pyarrow.parquet.read_metadata(path).num_rows)
        except pyarrow.ArrowInvalid as error:
            raise ContractError(f"not a parquet file: {error}", where=str(path)) from error
    return rows
