"""What a published folder holds and where it came from: ``manifest.json``."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from components.core.errors import ContractError

MANIFEST_NAME = "manifest.json"
_BLOCK = 1 << 20

Scalar = str | int | float | bool | None


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileEntry(_Frozen):
    """One file of a folder."""

    path: str = Field(min_length=1)
    """Relative to the folder, with forward slashes."""
    size: int = Field(ge=0)
    """Bytes."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of the content, as hex."""


class InputRef(_Frozen):
    """A folder that a step read."""

    uri: str
    sha256: str


class GitState(_Frozen):
    """The checkout that the code came from."""

    revision: str
    dirty: bool


class Manifest(_Frozen):
    """Provenance and content of one published folder."""

    files: tuple[FileEntry, ...]
    """Every file but the manifest itself, sorted by path."""
    step: str = ""
    experiment: str = ""
    identity: str = ""
    """Hash of everything that the result depends on."""
    code_version: str = ""
    """Hash of the first-party sources that the step imports."""
    depends: object = None
    """The part of the experiment that the result depends on."""
    inputs: dict[str, InputRef] = Field(default_factory=dict)
    seeds: dict[str, int] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    """Rows of each parquet file, by path."""
    metadata: dict[str, Scalar] = Field(default_factory=dict)
    """What the step returned."""
    packages: dict[str, str] = Field(default_factory=dict)
    """Versions of the packages that the step names."""
    python: str = ""
    git: GitState | None = None
    host: dict[str, Scalar] = Field(default_factory=dict)
    started: str = ""
    """UTC, ISO 8601."""
    seconds: float = 0.0
    """Of the step's own work, without waiting and publishing."""

    @property
    def sha256(self) -> str:
        """Hash of the content: of names, sizes and hashes of the files, and nothing else."""
        return content_sha256(self.files)

    def to_bytes(self) -> bytes:
        """As indented JSON with sorted keys.

        Raises:
            ContractError: a number is infinite or NaN, which JSON has no word for.
        """
        try:
            text = json.dumps(self.model_dump(), indent=1, sort_keys=True, allow_nan=False)
        except ValueError as error:
            raise ContractError(f"not to be written as JSON: {error}", where=f"manifest of {self.step}") from error
        return (text + "\n").encode()

    @staticmethod
    def from_bytes(data: bytes, where: str) -> "Manifest":
        """Read a manifest.

        Raises:
            ContractError: the bytes are not a manifest; ``where`` is named.
        """
        try:
            manifest = Manifest.model_validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ContractError(
                f"not a manifest: {key or 'document'}: {first['msg']}",
                where=where,
                remedy="delete the folder and its result.json; the step that made it then runs again",
            ) from error
        return manifest

    @staticmethod
    def read(folder: Path) -> "Manifest":
        """The manifest of a local folder."""
        path = folder / MANIFEST_NAME
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise ContractError("the folder has no manifest.json", where=str(path)) from error
        return Manifest.from_bytes(data, str(path))


def sha256_file(path: Path) -> str:
    """Hash of a file's content, as hex."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def content_sha256(files: Iterable[FileEntry]) -> str:
    """One hash for a set of files; the order in which they are given does not matter."""
    digest = hashlib.sha256()
    for entry in sorted(files, key=lambda entry: entry.path):
        # The path comes last and as JSON, so that no name can imitate the next line.
        digest.update(f"{entry.sha256} {entry.size} {json.dumps(entry.path)}\n".encode())
    return digest.hexdigest()


def list_files(folder: Path) -> list[str]:
    """Paths of every file below ``folder`` except its own manifest, sorted. Links to files count as files.

    Raises:
        ContractError: there is something that is neither a file nor a real folder.
    """
    names = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name == MANIFEST_NAME or (path.is_dir() and not path.is_symlink()):
            continue
        if not path.is_file():
            raise ContractError("neither a file nor a real folder, so it cannot be published", where=str(path))
        names.append(name)
    return sorted(names)


def scan_folder(folder: Path) -> tuple[FileEntry, ...]:
    """Hash every file below ``folder`` except its own manifest, sorted by path.

    Raises:
        ContractError: there is something that is neither a file nor a real folder.
    """
    return tuple(
        FileEntry(path=name, size=(folder / name).stat().st_size, sha256=sha256_file(folder / name))
        for name in list_files(folder)
    )
