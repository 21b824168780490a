"""Where results lie in the store, and when one may be used again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from components.core.errors import ContractError, StorageError
from components.core.manifest import MANIFEST_NAME, Manifest, sha256_file
from components.core.progress import Progress
from components.core.step.model import Published
from components.core.store import Store
from components.core.store.keys import check_key, join, split_uri
from components.core.store.transfer import corrupt

RESULT_NAME = "result.json"
SHORT = 12
"""Characters of the content's hash that name its folder."""


@dataclass(frozen=True)
class Results:
    """The results of one identity: ``<experiment>/<step>/<identity>/{<content>/, result.json}``."""

    store: Store
    experiment: str
    step: str
    identity: str

    @property
    def prefix(self) -> str:
        """Key of the folder that is this identity's."""
        return check_key(join(self.experiment, self.step, self.identity))

    def find(self, progress: Progress) -> Published | None:
        """The published result, if it is there and whole; a damaged one is reported and counts as absent."""
        key = join(self.prefix, RESULT_NAME)
        if not self.store.exists(key):
            return None
        try:
            record = json.loads(self.store.read_bytes(key))
            folder = join(self.prefix, check_key(record["content"]))
            if not self.store.exists(join(folder, MANIFEST_NAME)):
                raise ContractError("the published folder has no manifest", where=self.store.uri(folder))
            manifest = self.store.manifest(folder)
            if record["identity"] != self.identity or manifest.sha256 != record["sha256"]:
                raise ContractError("result.json and manifest.json differ", where=self.store.uri(folder))
            if not self.store.complete(folder, manifest.files):
                raise ContractError("files of the published result are missing", where=self.store.uri(folder))
        except (ValueError, KeyError, TypeError, ContractError) as error:
            progress.phase(f"the published result cannot be used and is made again: {error}")
            return None
        return self._published(folder, manifest, reused=True)

    def publish(self, out: Path, manifest: Manifest, progress: Progress) -> Published:
        """Upload the folder, then say that it is the result."""
        content = manifest.sha256[:SHORT]
        folder = join(self.prefix, content)
        self.store.upload(out, folder, progress)
        record = {"identity": self.identity, "content": content, "sha256": manifest.sha256}
        data = json.dumps(record, indent=1, sort_keys=True) + "\n"
        self.store.write_bytes(join(self.prefix, RESULT_NAME), data.encode())
        return self._published(folder, manifest, reused=False)

    def _published(self, folder: str, manifest: Manifest, *, reused: bool) -> Published:
        return Published(self.store.uri(folder), manifest.sha256, self.identity, manifest.metadata, reused)


@dataclass(frozen=True)
class Source:
    """A published folder that a step reads."""

    store: Store
    key: str
    manifest: Manifest

    @property
    def uri(self) -> str:
        """Where it lies."""
        return self.store.uri(self.key)

    def fetch(self, folder: Path, progress: Progress, patterns: Sequence[str] = ("*",)) -> Path:
        """A local folder with the verified content: ``folder``, or the published one itself if it lies on this machine.

        Only files that match one of ``patterns`` are fetched and verified.

        Raises:
            StorageError: a file is missing or corrupted; it is named.
        """
        local = self.store.local_path(self.key)
        if local is None:
            self.store.download(self.key, folder, progress, patterns)
            return folder
        for entry in self.manifest.files:
            if not any(fnmatchcase(entry.path, pattern) for pattern in patterns):
                continue
            path = local / entry.path
            if not path.is_file():
                raise StorageError("a published file is missing", where=str(path))
            found = sha256_file(path)
            if found != entry.sha256:
                raise corrupt(str(path), entry, found)
        return local


def open_sources(store: Store, uris: Mapping[str, str]) -> dict[str, Source]:
    """The inputs by name, with their manifests."""
    sources = {}
    for name, uri in uris.items():
        base, key = (store, uri[len(store.url) + 1 :]) if uri.startswith(store.url + "/") else _elsewhere(uri)
        sources[name] = Source(base, key, base.manifest(key))
    return sources


def _elsewhere(uri: str) -> tuple[Store, str]:
    url, key = split_uri(uri)
    return Store.open(url), key
