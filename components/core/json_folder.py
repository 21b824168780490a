"""A folder of JSON files as one content: which files count, and one hash for them all."""

import hashlib
from pathlib import Path, PurePosixPath

from components.core.manifest import sha256_file


def counts(name: str) -> bool:
    """Whether a file of this relative path is one of the data: it ends with .json, and no part of it is hidden."""
    path = PurePosixPath(name)
    parts = [part for part in path.parts if part != "."]
    return path.suffix == ".json" and not any(part.startswith(".") for part in parts)


def json_files(folder: Path) -> list[str]:
    """Relative paths of the data below ``folder``, in the order of their bytes."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return sorted(filter(counts, names), key=lambda name: name.encode("utf-8", "surrogateescape"))


def folder_sha256(folder: Path) -> str:
    """One hash, as hex: of the lines that sha256sum prints for the data below ``folder``, in order.

    In a shell: ``find -name '*.json' -not -path '*/.*' -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum |
    sha256sum``.

    Raises:
        OSError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for name in json_files(folder):
        line = f"{sha256_file(folder / name)}  {name}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
