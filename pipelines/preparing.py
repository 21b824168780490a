"""Preparing an experiment's data on this machine, without the rest of its pipeline."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from components.core.manifest import Manifest
from components.core.services.state import state_folder
from components.core.services.stores import start_store
from components.core.services.supervisor import supervise
from components.core.spec import Experiment
from components.core.step import runlog
from components.core.step.execute import perform
from components.core.store import Store
from components.core.store.keys import split_uri
from components.data.step import STEP
from pipelines.local import check_placement, check_store

COPIED: Final = ("data_card.html", "info.json", "data.json")
"""What one looks at; a mixture alone has the first two."""


@dataclasses.dataclass(frozen=True)
class Prepared:
    """What is there now.

    Attributes:
        uri: of the published folder.
        rows: of each table, by its path in that folder.
        copies: files of this machine to look at, those of :data:`COPIED` that there are.
        reused: whether all of it was there before.
    """

    uri: str
    rows: Mapping[str, int]
    copies: Sequence[Path]
    reused: bool


def prepare_locally(experiment: Experiment) -> Prepared:
    """Run prepare-data here as the pipeline does: the result goes where a run of this experiment looks for it.

    Neither memory nor GPUs of the experiment are asked for, since nothing is trained.

    Raises:
        ConfigError: the experiment is for a Kubernetes cluster, or its data cannot be had.
        ServiceError: another run is at work here, or the store does not start.
        GavelError: see :func:`components.core.step.execute.perform`.
    """
    check_placement(experiment)
    state = state_folder()
    state.mkdir(parents=True, exist_ok=True)
    with supervise(state) as manager:
        os.environ[runlog.RUN_VARIABLE] = datetime.now(UTC).strftime(f"{experiment.name}-data-%Y%m%d-%H%M%S")
        store = start_store(experiment.cluster.store, state, manager)
        check_store(store)
        published = perform(STEP, experiment, store, {})
        head, key = split_uri(published.uri)
        source = Store.open(head)
        manifest: Manifest = source.manifest(key)
        target = state / "reports" / f"{experiment.name}-data"
        target.mkdir(parents=True, exist_ok=True)
        copies = []
        for name in COPIED:
            # Of an earlier preparation, nothing may stay beside what is there now.
            (target / name).unlink(missing_ok=True)
            if any(entry.path == name for entry in manifest.files):
                (target / name).write_bytes(source.read_bytes(f"{key}/{name}"))
                copies.append(target / name)
    return Prepared(published.uri, manifest.rows, copies, published.reused)
