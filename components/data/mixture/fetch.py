"""A source file as one on this machine, with its hash checked: a path, an s3:// URL, or a pinned file of the hub."""

import dataclasses
import hashlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import pyarrow as pa

from components.core.errors import ContractError, StorageError
from components.core.json_folder import folder_sha256, json_files
from components.core.store import Store
from components.data.mixture.hub import download, hub_url

if TYPE_CHECKING:
    from components.core.spec.mixture import DataFile

_CHUNK: Final = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Fetched:
    """A source file.

    Attributes:
        path: where it lies on this machine; a folder where the source is one.
        source: path or URL, for messages; its suffix tells the file's form.
        sha256: of its content, hex.
        size: bytes.
        state: of the file when it was hashed: its number, size and time of change; of a folder the number of its files,
            their size and the newest time.
    """

    path: Path
    source: str
    sha256: str
    size: int
    state: tuple[int, int, int] | None = None


def fetch(file: "DataFile", work: Path) -> Fetched:
    """Bring a file here.

    Args:
        file: the source; a file of the hub and one with a ``sha256`` must have that content.
        work: folder for what is not on this machine.

    Raises:
        ContractError: there is no such file, or its content is another than the experiment names.
        StorageError: the store or the hub cannot be reached.
    """
    if file.hub is not None:
        source = hub_url(file.hub)
        path = work / f"{hashlib.sha256(source.encode()).hexdigest()[:16]}-{Path(file.hub.file).name}"
        if not (path.is_file() and _digest(path, source)[0] == file.sha256):
            download(source, path)
    else:
        source = str(file.path)
        path = _from_store(source, work) if "://" in source else Path(source)
    state = _state(path)
    found, size = _digest(path, source)
    if file.sha256 is not None and found != file.sha256:
        if file.path is None:
            path.unlink()
        raise ContractError(
            f"the file has sha256 {found}, the experiment names {file.sha256}",
            where=source,
            remedy="it is another file, or it changed: start again from what it is now, or correct its sha256",
        )
    return Fetched(path, source, found, size, state)


def check_unchanged(file: Fetched) -> None:
    """Whether a file that was read is still the one that was hashed.

    Raises:
        ContractError: it was written in the meantime, so its rows are not those of the hash.
    """
    if file.state is not None and _state(file.path) != file.state:
        raise ContractError(
            "the file changed while it was read", where=file.source, remedy="wait until it is written, and start again"
        )


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        if path.is_dir():
            each = [(path / name).stat() for name in json_files(path)]
            return len(each), sum(one.st_size for one in each), max((one.st_mtime_ns for one in each), default=0)
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _from_store(source: str, work: Path) -> Path:
    folder, _, name = source.rpartition("/")
    system, root = Store.open(folder).arrow()
    path = work / f"{hashlib.sha256(source.encode()).hexdigest()[:16]}-{name}"
    partial = path.with_name(f".{path.name}.partial")
    key = f"{root.rstrip('/')}/{name}"
    try:
        # By default packed files would be unpacked on their way, and be others than their hashes say.
        with system.open_input_stream(key, compression=None) as stream, partial.open("wb") as target:
            while chunk := stream.read(_CHUNK):
                target.write(chunk)
    except FileNotFoundError as error:
        raise ContractError("there is no such file", where=source, remedy="upload it, or correct its URL") from error
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"the file cannot be fetched: {error}", where=source, remedy="see the store") from error
    partial.replace(path)
    return path


def _digest(path: Path, source: str) -> tuple[str, int]:
    """Hash and size."""
    found, size = hashlib.sha256(), 0
    try:
        if path.is_dir():
            return folder_sha256(path), sum((path / name).stat().st_size for name in json_files(path))
        with path.open("rb") as stream:
            while chunk := _read(stream):
                found.update(chunk)
                size += len(chunk)
    except OSError as error:
        raise ContractError(
            f"the file cannot be read: {error.strerror}", where=source, remedy="name a file that can be read"
        ) from error
    return found.hexdigest(), size


def _read(stream: IO[bytes]) -> bytes:
    return stream.read(_CHUNK)
