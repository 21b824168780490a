"""The bridge between KFP components and steps: artifacts are pointers into the store."""

import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from components.core.errors import GavelError
from components.core.holder import KFP_RUN
from components.core.manifest import Scalar
from components.core.progress import size_text
from components.core.services.state import state_folder
from components.core.step.execute import execute
from components.core.step.model import Published, Step
from components.core.store import Store
from components.core.store.disk import free_bytes
from components.core.store.keys import join_url, split_uri

RUNS = "kfp-runs"
"""Key below which a run on a cluster notes what its steps published: ``kfp-runs/<run>/<step>.json``."""
_FOLDER = "folder"
_LITTLE = 200_000_000
"""Free bytes below which a full disk is the likely cause of any failure."""
_REMOTE = re.compile(r"(s3|gs|minio)://")


class Artifact(Protocol):
    """What is used of ``kfp.dsl.Artifact``."""

    uri: str
    metadata: dict[str, Scalar]

    @property
    def path(self) -> str:
        """The local file that KFP's launcher uploads to ``uri`` when the component has ended."""


def kfp_step(
    step: Step,
    experiment: str,
    store: str,
    inputs: Mapping[str, Artifact] | None = None,
    output: Artifact | None = None,
    *,
    file: str = "",
    metrics: Artifact | None = None,
    figures: Callable[[str], Mapping[str, float]] | None = None,
) -> Published:
    """Run a step inside a KFP component and point the output artifact at what it published.

    Args:
        step: what to run.
        experiment: the resolved experiment as JSON.
        store: URL of the store's root.
        inputs: artifacts of earlier steps, by the step's name for them.
        output: gets ``metadata`` (step, identity, sha256, reused, folder, and what the step returned), and ``uri``
            where KFP runs on this machine.
        file: the published file that ``output`` is to be, instead of the folder (``report.html``).
        metrics: gets the numbers among what the step returned, for KFP's table of metrics.
        figures: further numbers for it, given the URI of what was published.

    Raises:
        SystemExit: see :func:`boundary`.
    """
    uris = {name: str(artifact.metadata.get(_FOLDER) or artifact.uri) for name, artifact in (inputs or {}).items()}
    with boundary(step.name):
        _use_endpoint(experiment)
        published = execute(step, experiment, store, uris)
        if output is not None:
            output.metadata.update(artifact_metadata(step.name, published))
            _point(output, published, file)
        if metrics is not None:
            metrics.metadata.update(numbers({**published.metadata, **(figures(published.uri) if figures else {})}))
        note_run(step.name, store, uri=published.uri, sha256=published.sha256, identity=published.identity)
    return published


@contextlib.contextmanager
def boundary(name: str) -> Iterator[None]:
    """The process boundary: a GavelError is printed plainly, anything else with its traceback, and either ends the
    process with status 1, which KFP reports as a failed task.

    Raises:
        SystemExit: with status 1.
    """
    try:
        yield
    except GavelError as error:
        sys.stderr.write(f"step {name} failed: {error}\n")
        raise SystemExit(1) from None
    except Exception as error:  # noqa: BLE001  the one process boundary
        traceback.print_exc()
        sys.stderr.write(f"step {name} failed: {type(error).__name__}: {error}\n{_disk_hint()}")
        raise SystemExit(1) from None


def _disk_hint() -> str:
    """What many libraries do not say of a full disk."""
    state = state_folder()
    free = free_bytes(state)
    return "" if free > _LITTLE else f"only {size_text(free)} are free on the disk of {state}: that may be the cause\n"


def _use_endpoint(experiment: str) -> None:
    """Say where the experiment's S3 is, unless the environment says so already."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        # A text that is no experiment is told of by the step.
        endpoint = json.loads(experiment)["cluster"]["store"]["endpoint"]
        if endpoint and not os.environ.get("GAVEL_S3_ENDPOINT"):
            os.environ["GAVEL_S3_ENDPOINT"] = str(endpoint)


def _point(output: Artifact, published: Published, file: str) -> None:
    """Have the artifact lead to what was published.

    On a cluster KFP's launcher refuses a URI outside the bucket of the pipeline's root, and copies all that lies at an
    input's URI into the pod that reads it. There the artifact stays where KFP put it, as a small file; steps find the
    folder in its metadata.
    """
    if not _REMOTE.match(output.uri):
        output.uri = join_url(published.uri, file)
        return
    target = Path(output.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if file:
        head, key = split_uri(published.uri)
        target.write_bytes(Store.open(head).read_bytes(f"{key}/{file}"))
    else:
        target.write_text(json.dumps(output.metadata, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def note_run(step: str, store: str, *, uri: str, sha256: str, identity: str = "") -> None:
    """Write down what the run published, for ``make report``: KFP's API does not tell where artifacts lie.

    Arms of one study share a run and note the same steps; what is asked for of a study is its own report alone.
    """
    run = os.environ.get(KFP_RUN)
    if run and uri:
        record = {"step": step, "uri": uri, "sha256": sha256, "identity": identity}
        Store.open(store).write_bytes(f"{RUNS}/{run}/{step}.json", (json.dumps(record, indent=1) + "\n").encode())


def artifact_metadata(step: str, published: Published) -> dict[str, Scalar]:
    """The artifact's metadata; unknown (None) values are left out, since KFP's metadata has no null."""
    own: dict[str, Scalar] = {
        "step": step,
        "identity": published.identity,
        "sha256": published.sha256,
        "reused": published.reused,
        _FOLDER: published.uri,
    }
    returned = {key: value for key, value in published.metadata.items() if value is not None and key not in own}
    return {**returned, **own}


def numbers(metadata: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """What KFP can show as metrics: numbers alone."""
    return {
        key: value for key, value in metadata.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }
