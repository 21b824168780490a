"""A training in the store: what it published, or how far its checkpoints have come."""

import contextlib
import json
import re
import sqlite3
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Final

from components.core.contracts import METRICS, read_table
from components.core.errors import ConfigError, ContractError, GavelError
from components.core.manifest import MANIFEST_NAME, Manifest
from components.core.progress import clock_text
from components.core.step.results import RESULT_NAME, Source
from components.core.store import Store
from components.core.store.keys import join, split_uri
from components.monitor.buffer_fill import fill_of_table, fill_of_work
from components.monitor.logs import Logs
from components.monitor.origins import origins_of_data
from components.monitor.published import ROLLOUTS_TABLE, read_published
from components.monitor.samples import Origins, Sample, sample_of
from components.monitor.silence import silent
from components.monitor.snapshot import Facts, Snapshot, facts_of_text, work_metrics
from components.monitor.status import Kind, Stand
from components.rayjob import messages
from components.train.keeper import FOLDER as CHECKPOINTS
from components.workflow.buffer.store import FOLDER, TABLE
from components.workflow.log_name import TABLE as WORKFLOWS_TABLE

SILENT_AFTER: Final = 120.0
"""Seconds without a heartbeat, of which there is one in ten seconds."""
_METRICS: Final = "metrics.parquet"
_FETCHED: Final = (ROLLOUTS_TABLE, _METRICS, WORKFLOWS_TABLE, f"{FOLDER}/{TABLE}")
_CHECKPOINT: Final = re.compile(r"global_step_(\d{1,18})/" + re.escape(MANIFEST_NAME))


class Published:
    """A published training.

    Args:
        uri: of its folder.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        self._found: Snapshot | None = None

    def look(self) -> Snapshot:
        """All of it; it does not change any more.

        Raises:
            GavelError: it cannot be read.
        """
        if self._found is None:
            with tempfile.TemporaryDirectory(prefix="gavel-monitor-") as place:
                self._found = self._read(Path(place))
        return self._found

    def _read(self, place: Path) -> Snapshot:
        head, key = split_uri(self.uri)
        store = Store.open(head)
        source = Source(store, key, store.manifest(key))
        folder = source.fetch(place / "training", silent(), _FETCHED)
        data = source.manifest.inputs.get("data")
        origins = None if data is None else origins_of_data(data.uri, place / "data")
        samples = read_published(folder, origins or {})
        facts = facts_of_manifest(source.manifest)
        metrics: dict[int, dict[str, float]] = {}
        for row in read_table(folder / _METRICS, METRICS).to_pylist():
            metrics.setdefault(row["step"], {})[row["name"]] = row["value"]
        stand = Stand(Kind.PUBLISHED, max(metrics, default=facts.steps or 0))
        unknown = "the prepared data cannot be read, so that sets and domains are unknown"
        return Snapshot(
            where=self.uri,
            facts=facts,
            stand=stand,
            samples=samples,
            metrics=metrics,
            buffer=fill_of_table(folder / FOLDER / TABLE, facts.capacity),
            notes=[unknown] if origins is None else [],
        )


def facts_of_manifest(manifest: Manifest) -> Facts:
    """What the manifest tells of the experiment."""
    depends = manifest.depends if isinstance(manifest.depends, dict) else {}
    training = depends.get("training")
    known = training if isinstance(training, dict) else {}
    steps, prompts, group = (known.get(name) for name in ("steps", "prompts_per_step", "rollouts_per_prompt"))
    return Facts(
        name=manifest.experiment,
        steps=steps if isinstance(steps, int) else None,
        samples_per_step=prompts * group if isinstance(prompts, int) and isinstance(group, int) else None,
        capacity=_capacity(depends),
    )


def _capacity(tree: object) -> int | None:
    """Of the experience buffer, wherever in the tree its settings stand."""
    if not isinstance(tree, dict):
        return None
    found = tree.get("buffer")
    if isinstance(found, dict) and isinstance(found.get("capacity"), int):
        return int(found["capacity"])
    return next((known for value in tree.values() if (known := _capacity(value)) is not None), None)


class StoredRun:
    """A training's folder in the store, while it is trained elsewhere and afterwards.

    Args:
        uri: of the folder of its identity.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        self._store = Store.open(self.uri)
        self._place = tempfile.TemporaryDirectory(prefix="gavel-monitor-")
        self._published: Published | None = None
        self._step = 0
        self._work: Path | None = None
        self._origins: Origins | None = None
        self._facts: Facts | None = None

    def look(self) -> Snapshot:
        """How it is now, as far as the store knows.

        Raises:
            GavelError: the store cannot be read.
        """
        if self._published is not None:
            return self._published.look()
        if self._store.exists(RESULT_NAME):
            self._published = Published(self._store.uri(content_of(self._store, "")))
            return self._published.look()
        facts = self._known()
        newest = self._newest()
        notes = []
        if newest > self._step:
            self._fetch(newest)
        samples: list[Sample] = []
        metrics: dict[int, dict[str, float]] = {}
        buffer = None
        if self._work is not None:
            try:
                rollouts, workflows, attempts = Logs(self._work).read()
                origins = self._origins or {}
                samples = [sample_of(row, origins, workflows.get(row["sample_id"])) for row in rollouts]
                metrics = work_metrics(self._work, attempts)
                buffer = fill_of_work(self._work, facts.capacity)
            except sqlite3.Error as error:
                notes.append(f"the logs of checkpoint {self._step} cannot be read: {error}")
            if self._origins is None:
                notes.append("the prepared data cannot be read, so that sets and domains are unknown")
        return Snapshot(self.uri, facts, self._stand(), samples, metrics, buffer, as_of=self._step, notes=notes)

    def _known(self) -> Facts:
        if self._facts is None:
            name = self.uri.split("/")[-3] if self.uri.count("/") > 3 else self.uri
            try:
                request = messages.read_request(self._store, messages.REQUEST)
            except GavelError:
                return Facts(name)
            self._facts = facts_of_text(request.experiment, name)
            if data := request.inputs.get("data"):
                self._origins = origins_of_data(data, Path(self._place.name, "data"))
        return self._facts

    def _newest(self) -> int:
        names = (entry.key.removeprefix(f"{CHECKPOINTS}/") for entry in self._store.list(CHECKPOINTS))
        return max((int(found[1]) for name in names if (found := _CHECKPOINT.fullmatch(name))), default=0)

    def _fetch(self, step: int) -> None:
        """What the training had written of its own at that checkpoint; not the weights."""
        target = Path(self._place.name, f"step-{step}")
        self._store.download(join(CHECKPOINTS, f"global_step_{step}"), target, silent(), ("work/*",))
        self._step, self._work = step, target / "work"

    def _stand(self) -> Stand:
        failure = messages.read_failure(self._store, "")
        if failure is not None:
            return Stand(Kind.FAILED, self._step, " ".join(filter(None, (failure.what, failure.remedy))))
        beat = messages.read_heartbeat(self._store, "")
        if beat is None:
            return Stand(Kind.PREPARING if self._facts is not None else Kind.NOT_BEGUN)
        age = time.time() - beat.time
        if age > SILENT_AFTER:
            return Stand(Kind.SILENT, beat.step, f"the last one reached the store {clock_text(age)} ago")
        kind = {"waiting-for-judge": Kind.PAUSED, "starting": Kind.PREPARING, "publishing": Kind.TRAINED}
        detail = beat.note or {"saving": "saves a checkpoint"}.get(beat.state, "")
        return Stand(kind.get(beat.state, Kind.TRAINING), beat.step, detail)


def find_stored(uri: str, step: str) -> "Published | StoredRun":
    """The training at a URI: a published folder, or the newest identity below it.

    Raises:
        ConfigError: there is none.
        GavelError: the store cannot be read.
    """
    store = Store.open(uri)
    keys = [entry.key for entry in store.list()]
    if MANIFEST_NAME in keys and ROLLOUTS_TABLE in keys:
        return Published(uri)
    marks = (RESULT_NAME, messages.REQUEST, messages.HEARTBEAT)
    places = {"/".join(key.split("/")[:-1]) for key in keys if key.rpartition("/")[2] in marks}
    inside = f"/{uri.rstrip('/')}/"
    fit = [place for place in places if not place or f"/{step}/" in f"{inside}{place}/"]
    if not fit:
        raise ConfigError(
            "no training is there",
            where=uri,
            remedy="give what train-grpo published, the folder of its identity, or one above it",
        )
    return StoredRun(store.uri(max(fit, key=lambda place: _age(store, place))))


def _age(store: Store, place: str) -> float:
    """Unix time of the newest sign of a training; 0 where there is none that can be read."""
    signs = [0.0]
    with contextlib.suppress(GavelError):
        beat = messages.read_heartbeat(store, place)
        signs.append(0.0 if beat is None else beat.time)
    with contextlib.suppress(GavelError, ValueError, KeyError, TypeError):
        manifest = store.manifest(join(place, content_of(store, place)))
        signs.append(datetime.fromisoformat(manifest.started).timestamp() + manifest.seconds)
    return max(signs)


def content_of(store: Store, place: str) -> str:
    """Name of the published folder below that of an identity.

    Raises:
        GavelError: it is not there, or cannot be read.
    """
    key = join(place, RESULT_NAME)
    try:
        return str(json.loads(store.read_bytes(key))["content"])
    except (ValueError, KeyError, TypeError) as error:
        raise ContractError("result.json names no content", where=store.uri(key)) from error
