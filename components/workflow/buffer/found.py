"""A buffer to look at, wherever it lies: in a work folder, a checkpoint or a published folder, here or in a store."""

import dataclasses
import shutil
import tempfile
from pathlib import Path

from pydantic import ValidationError

from components.core.errors import ContractError, StorageError
from components.core.spec.workflow_buffer import BufferSpec
from components.core.store import Store
from components.tasks.sets import DOMAINS
from components.workflow.buffer.database import FILE, Database
from components.workflow.buffer.entry import Entry, Forbidden
from components.workflow.buffer.store import INDEX, TABLE, read_folder
from components.workflow.buffer.view import best


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """What was found.

    Attributes:
        where: the file.
        entries: by domain, the best first; those of a work folder without vectors.
        spec: what the buffer was last opened with.
    """

    where: str
    entries: list[Entry]
    spec: BufferSpec


def look(place: str, *, step: int | None = None) -> Contents:
    """Read the buffer at a path or URL, and write nothing.

    Args:
        place: a file, a folder with one buffer somewhere below it, or ``file://`` or ``s3://`` of such a folder.
        step: only entries of earlier steps.

    Raises:
        StorageError: there is none, or there are several.
        ContractError: it is damaged.
    """
    path = Path(place)
    if "://" not in place and path.is_file():
        return _read(path, place, step)
    store = Store.open(place if "://" in place else path.absolute().as_uri())
    key = _only([entry.key for entry in store.list()], place)
    local = store.local_path(key)
    if local is not None:
        return _read(local, str(local), step)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / Path(key).name
        copy.write_bytes(store.read_bytes(key))
        if copy.name == TABLE:
            (copy.parent / INDEX).write_bytes(store.read_bytes(key.removesuffix(TABLE) + INDEX))
        return _read(copy, store.uri(key), step)


def _only(keys: list[str], place: str) -> str:
    """The one buffer; a published one before those of checkpoints."""
    for name in (TABLE, FILE):
        found = [key for key in keys if key.rpartition("/")[2] == name]
        if len(found) == 1:
            return found[0]
        if found:
            listed = "".join(f"\n  {key.rpartition('/')[0]}" for key in found[:10])
            raise StorageError(
                f"{len(found)} buffers lie here:{listed}", where=place, remedy="name one of these folders"
            )
    raise StorageError(
        "there is no experience buffer",
        where=place,
        remedy=f"a training keeps it as {FILE} in its work folder, and publishes {TABLE} with its result",
    )


def _read(path: Path, where: str, step: int | None) -> Contents:
    if path.name == TABLE:
        published = read_folder(path.parent)
        spec = _spec(published.index.get("spec"), where)
        return Contents(where, [each for each in published.entries if step is None or each.step < step], spec)
    journal = path.with_name(f"{path.name}-journal")
    try:
        database = Database(path, write=False)
    except StorageError:
        if not journal.exists():
            raise
        # Its writer was killed in the middle of a transaction, which is to be undone: in a copy, as this only looks.
        with tempfile.TemporaryDirectory() as scratch:
            for each in (path, journal):
                shutil.copyfile(each, Path(scratch) / each.name)
            with Database(Path(scratch) / path.name) as database:
                return _counted(database, where, step)
    with database:
        return _counted(database, where, step)


def _counted(database: Database, where: str, step: int | None) -> Contents:
    spec = _spec(database.about().get("spec"), where)
    entries: list[Entry] = []
    for domain in DOMAINS:
        entries += database.entries(best(database.ranked(domain, before=step), spec.capacity, Forbidden()))
    return Contents(where, entries, spec)


def _spec(value: object, where: str) -> BufferSpec:
    try:
        return BufferSpec.model_validate(value)
    except ValidationError as error:
        raise ContractError(f"the buffer does not say what it was opened with: {error}", where=where) from error
