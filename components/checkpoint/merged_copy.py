"""A merged and verified copy of a checkpoint, outside of a pipeline."""

import json
import shutil
from pathlib import Path

from components.core.errors import ConfigError
from components.core.manifest import Scalar, content_sha256, scan_folder
from components.core.progress import Progress

MARK = "gavel-merge.json"
"""File in a merged folder that says which checkpoint it is of, and what the comparison found."""


def merge_to(checkpoint: str, target: Path, dtype: str = "float32") -> dict[str, Scalar]:
    """Merge a checkpoint into ``target``, which appears once it is whole and verified; the same again does nothing.

    Args:
        checkpoint: a path, ``file://`` or ``s3://``.
        target: a folder that does not exist yet, is empty, or was made of this checkpoint before.
        dtype: ``float32`` or ``bfloat16``; of the merged weights.

    Returns:
        What :func:`components.checkpoint.merged.merge_verified` says.

    Raises:
        ConfigError: the target is in use, or there is nothing to merge.
        StepError: there is no whole checkpoint, or something of the training was lost.
    """
    import torch

    from components.checkpoint.given import find
    from components.checkpoint.merged import merge_verified
    from components.engine.environment import environment_on

    target = target.absolute()
    progress = Progress("merge")
    located = find(checkpoint, progress)
    if located.merged:
        raise ConfigError(
            "this is a merged model already", where=str(located.folder), remedy="use it as it is (MODEL=... for IFEval)"
        )
    content = content_sha256(scan_folder(located.folder))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        known = _mark(target)
        if known.get("content") == content and known.get("dtype") == dtype:
            progress.phase(f"merged before: {target}")
            return {name: value for name, value in known.items() if name not in ("content", "dtype")}
        raise ConfigError(
            "the target is there already, and is not of this checkpoint",
            where=str(target),
            remedy="name a new folder, or remove it",
        )
    scratch = target.with_name(f".{target.name}.partial")
    log = target.with_name(f".{target.name}.log")
    scratch.parent.mkdir(parents=True, exist_ok=True)
    accelerator = "gpu" if torch.cuda.is_available() else "cpu"
    try:
        found = merge_verified(
            located.folder,
            scratch,
            environment=environment_on(accelerator, torch.get_num_threads()),
            log=log,
            dtype=dtype,
            progress=progress,
        )
        (scratch / MARK).write_text(json.dumps({"content": content, "dtype": dtype, **found}, indent=1))
        shutil.rmtree(target, ignore_errors=True)
        scratch.rename(target)
    finally:
        # Of a merge that failed; the log stays, since the error names it.
        shutil.rmtree(scratch, ignore_errors=True)
    log.unlink(missing_ok=True)
    return found


def _mark(folder: Path) -> dict[str, Scalar]:
    try:
        found: dict[str, Scalar] = json.loads((folder / MARK).read_text())
    except (OSError, ValueError):
        return {}
    return found
