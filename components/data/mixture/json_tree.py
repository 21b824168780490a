"""A set that holds one JSON file a row: a folder of them, or the archive that its authors give away."""

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from components.core.errors import ContractError
from components.core.json_folder import counts, json_files
from components.data.mixture.decode import decode_object
from components.data.mixture.records import Found
from components.data.mixture.row import TEST, TRAIN

ARCHIVES: Final = (".tar", ".tar.gz", ".tgz")
LONGEST: Final = 64 << 20
"""Bytes of one file: a small archive can hold one that no memory does."""


def is_tree(path: Path, source: str) -> bool:
    """Whether a source is a folder, or by its name such an archive."""
    return path.is_dir() or PurePosixPath(source.partition("?")[0]).name.lower().endswith(ARCHIVES)


def read_tree(path: Path, source: str) -> Iterator[Found]:
    """The rows, each with its relative path as ``path``; of a folder in the order of the paths.

    Of an archive nothing is unpacked. The path begins with train or test where a folder of that name is above the file,
    so that folder, part of it and archive give a row the same one.

    Raises:
        ContractError: the folder or archive as a whole cannot be read; a single bad file is given as such.
    """
    if path.is_dir():
        above = path.name if path.name in (TRAIN, TEST) else ""
        for name in json_files(path):
            yield name, _row(_content(path / name, source), str(PurePosixPath(above, name)))
        return
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                if member.isfile() and counts(member.name):
                    yield member.name, _row(_member(archive, member), member.name)
    except (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ContractError(
            f"no readable archive: {error}", where=source, remedy="download it again, or unpack it and name the folder"
        ) from error


def _row(content: bytes | ContractError, name: str) -> dict[str, Any] | ContractError:
    if isinstance(content, ContractError):
        return content
    try:
        return {**decode_object(content.removeprefix(b"\xef\xbb\xbf")), "path": _from_part(name)}
    except ContractError as error:
        return error


def _from_part(name: str) -> str:
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    first = next((place for place, part in enumerate(parts[:-1]) if part in (TRAIN, TEST)), 0)
    return "/".join(parts[first:])


def _content(path: Path, source: str) -> bytes | ContractError:
    try:
        if path.stat().st_size > LONGEST:
            return _too_long()
        return path.read_bytes()
    except OSError as error:
        raise ContractError(
            f"a file cannot be read: {error.strerror}", where=f"{source}, {path.name}", remedy="see its rights"
        ) from error


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | ContractError:
    if member.size > LONGEST:
        return _too_long()
    stream = archive.extractfile(member)
    return b"" if stream is None else stream.read()


def _too_long() -> ContractError:
    return ContractError(f"a file of more than {LONGEST >> 20} MiB", remedy="one problem a file")
