"""Paths that a user writes, and paths as a user reads them."""

import os
from pathlib import Path

from components.core.spec.places import Mark


def display(path: Path) -> str:
    """The path from the current folder when it lies below it, else whole."""
    absolute = path if path.is_absolute() else Path.cwd() / path
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def resolve(text: str, where: Mark) -> Path | None:
    """The absolute path that ``text`` means at that place; None when no path can be written so."""
    try:
        return ((where.folder or Path.cwd()) / Path(text).expanduser()).resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def is_file(path: Path | None) -> bool:
    """Whether a file is there; False also for names that no file can have, for which ``Path.is_file`` raises."""
    return path is not None and os.path.isfile(path)


def names_in(folder: Path, suffix: str = ".yaml") -> list[str]:
    """Names of a folder's files, without the suffix."""
    return sorted(file.stem for file in folder.glob(f"*{suffix}"))
