"""Models that lie in a store: a published folder, verified file by file, or a plain folder in Hugging Face layout."""

import hashlib
from pathlib import Path
from typing import Final

from components.core.errors import GavelError, StorageError
from components.core.manifest import MANIFEST_NAME, Manifest
from components.core.progress import Progress
from components.core.spec.source import UriSource
from components.core.store import Entry, Store
from components.core.store.keys import join, split_uri
from components.models.materialize import check_folder, finished, is_whole, locked

_INSIDE: Final = "model"
"""Where merge-checkpoint puts the model below the folder that it publishes."""
_BLOCK: Final = 8 << 20


def fetch_folder(source: UriSource, cache: Path) -> Path:
    """The model of a store, fetched once into ``cache``; one that lies on this machine is used there.

    A fetch of a published folder that was interrupted goes on, and each file is checked against the manifest.

    Raises:
        GavelError: there is no model at the URL, or its content is not the one asserted.
        StorageError: the store cannot be read, or a file is corrupted.
    """
    head, key = split_uri(source.uri)
    store = Store.open(head)
    manifest = store.manifest(key) if store.exists(join(key, MANIFEST_NAME)) else None
    if manifest is not None and source.sha256 is not None and manifest.sha256 != source.sha256:
        raise GavelError(
            f"the folder has another content than asserted: sha256 {manifest.sha256}, not {source.sha256}",
            where=source.uri,
            remedy="name the folder that was meant, or take source.sha256 out to use this one",
        )
    local = store.local_path(key)
    if local is not None:
        return _model_in(local)
    entries = store.list(key)
    if not entries:
        raise GavelError("there is nothing at this URL", where=source.uri, remedy="check the bucket and the folder")
    if manifest is not None and not store.complete(key, manifest.files):
        raise StorageError("files of the published folder are missing", where=source.uri)
    target = cache / _name(manifest.sha256 if manifest is not None else _of_listing(store, entries))
    if is_whole(target):
        return _model_in(target)
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / f".{target.name}.lock"):
        if not is_whole(target):
            _fetch(store, key, manifest, entries, target)
    return _model_in(target)


def fetched_folder(source: UriSource, cache: Path) -> Path | None:
    """What :func:`fetch_folder` would return, where that is known without asking a store; otherwise None."""
    if source.uri.startswith("file://"):
        head, key = split_uri(source.uri)
        local = Store.open(head).local_path(key)
        if local is not None:
            return _found(local)
    target = cache / _name(source.sha256) if source.sha256 else None
    return _found(target) if target is not None and is_whole(target) else None


def _fetch(store: Store, key: str, manifest: Manifest | None, entries: list[Entry], target: Path) -> None:
    scratch = target.with_name(f".{target.name}.fetching")
    progress = Progress("model")
    progress.phase(f"fetching {store.uri(key)}")
    if manifest is not None:
        store.download(key, scratch, progress)
    else:
        _copy(store, key, entries, scratch, progress)
    finished(scratch, target)


def _copy(store: Store, key: str, entries: list[Entry], folder: Path, progress: Progress) -> None:
    """Files without a manifest; one that is there with its size is kept, since a file gets its name when whole."""
    filesystem, base = store.arrow()
    progress.begin(sum(entry.size for entry in entries), "B", note="fetching")
    for entry in entries:
        path = folder / entry.key[len(key) + 1 :]
        if not (path.is_file() and path.stat().st_size == entry.size):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.part")
            try:
                with (
                    filesystem.open_input_stream(f"{base}/{entry.key}", compression=None) as stream,
                    part.open("wb") as sink,
                ):
                    while block := stream.read(_BLOCK):
                        sink.write(block)
            except OSError as error:
                raise StorageError(f"cannot be fetched: {error}", where=store.uri(entry.key)) from error
            if part.stat().st_size != entry.size:
                raise StorageError(
                    f"{part.stat().st_size} bytes came, and the store lists {entry.size}", where=store.uri(entry.key)
                )
            part.rename(path)
        progress.advance(entry.size)


def _of_listing(store: Store, entries: list[Entry]) -> str:
    """Stands for a plain folder's content: its place, names and sizes."""
    listing = "\n".join(f"{store.uri(entry.key)} {entry.size}" for entry in entries)
    return hashlib.sha256(listing.encode()).hexdigest()


def _name(content: str) -> str:
    return f"store-{content[:24]}"


def _found(folder: Path) -> Path | None:
    return next((path for path in (folder, folder / _INSIDE) if (path / "config.json").is_file()), None)


def _model_in(folder: Path) -> Path:
    return check_folder(_found(folder) or folder)
