"""What the parts of a study left, written down in the store, so that whoever asks later need not know how it was made.

A record is no result: it says under which identity of the specification a part was made and where its results lie.
Results are reused by their own identities; a record of another identity counts as none.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from components.core.errors import ContractError, StorageError
from components.core.store import Store
from components.core.store.keys import join, split_uri

ROOT = "studies"
Kind = Literal["arms", "probes", "crosses"]


class Left(NamedTuple):
    """One published result.

    Attributes:
        uri: of its folder.
        sha256: of its content.
    """

    uri: str
    sha256: str


class Record(NamedTuple):
    """One part of a study.

    Attributes:
        identity: of the specification that it was made under.
        results: by step.
        error: why it was not finished; empty where it was.
    """

    identity: str
    results: Mapping[str, Left]
    error: str = ""

    def left(self, step: str) -> Left:
        """The result of a step.

        Raises:
            ContractError: the record has none of it.
        """
        if step not in self.results:
            raise ContractError(
                f"a record of a study has no result {step!r}",
                where=f"a record under {ROOT}/ in the store",
                remedy="remove the study's records there, and run the study again: its results are found again",
            )
        return self.results[step]


def record_key(study: str, kind: Kind, name: str) -> str:
    """Where the record lies in the store."""
    return join(ROOT, study, kind, f"{name}.json")


def write_record(store_url: str, study: str, kind: Kind, name: str, record: Record) -> None:
    """Write the record, in the place of an older one.

    Raises:
        StorageError: the store does not take it.
    """
    found = {"identity": record.identity, "error": record.error, "results": dict(record.results)}
    data = json.dumps(found, indent=1, sort_keys=True) + "\n"
    Store.open(store_url).write_bytes(record_key(study, kind, name), data.encode())


def read_record(store_url: str, study: str, kind: Kind, name: str, identity: str) -> Record | None:
    """The record of a part as it is now asked for; None where there is none.

    Raises:
        StorageError: the store cannot be read.
        ContractError: the record is no record.
    """
    store, key = Store.open(store_url), record_key(study, kind, name)
    if not store.exists(key):
        return None
    try:
        found: dict[str, Any] = json.loads(store.read_bytes(key))
        results = {step: Left(str(uri), str(sha256)) for step, (uri, sha256) in found["results"].items()}
        record = Record(str(found["identity"]), results, str(found["error"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ContractError(
            f"not a record of a study: {error!r}", where=store.uri(key), remedy="remove the file, and run again"
        ) from error
    return record if record.identity == identity else None


def read_file(store_url: str, left: Left, name: str) -> bytes:
    """A file of a published result.

    Raises:
        StorageError: it is not there.
    """
    store, key = _place(store_url, left)
    return store.read_bytes(join(key, name))


def fetch_file(store_url: str, left: Left, name: str, folder: Path) -> Path:
    """A file of a published result, whole and with the content that was published.

    Args:
        store_url: of the store's root.
        left: the result.
        name: of the file.
        folder: where it is put; what lies there from an earlier fetch is kept if it is that content.

    Raises:
        StorageError: it is not there, or is damaged.
        ContractError: another content was published in the place of the recorded one.
    """
    store, key = _place(store_url, left)
    manifest = store.manifest(key)
    if manifest.sha256 != left.sha256:
        raise ContractError(
            f"the content is {manifest.sha256[:12]}..., and {left.sha256[:12]}... was recorded",
            where=left.uri,
            remedy="remove the folder and its result.json, and run again",
        )
    if name not in {entry.path for entry in manifest.files}:
        raise StorageError(f"the result has no file {name}", where=left.uri, remedy="remove the folder, and run again")
    store.download(key, folder, patterns=(name,))
    return folder / name


def _place(store_url: str, left: Left) -> tuple[Store, str]:
    store = Store.open(store_url)
    if not left.uri.startswith(store.url):
        head, key = split_uri(left.uri)
        return Store.open(head), key
    return store, left.uri.removeprefix(store.url).strip("/")
