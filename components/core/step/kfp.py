"""The bridge between KFP components and steps: artifacts are pointers into the store."""

import sys
import traceback
from collections.abc import Mapping
from typing import Protocol

from components.core.errors import GavelError
from components.core.manifest import Scalar
from components.core.progress import size_text
from components.core.services.state import state_folder
from components.core.step.execute import execute
from components.core.step.model import Published, Step
from components.core.store.disk import free_bytes
from components.core.store.keys import join_url

_FOLDER = "folder"
_LITTLE = 200_000_000
"""Free bytes below which a full disk is the likely cause of any failure."""


class Artifact(Protocol):
    """What is used of ``kfp.dsl.Artifact``."""

    uri: str
    metadata: dict[str, Scalar]


def kfp_step(
    step: Step,
    experiment: str,
    store: str,
    inputs: Mapping[str, Artifact] | None = None,
    output: Artifact | None = None,
    *,
    file: str = "",
) -> Published:
    """Run a step inside a KFP component and point the output artifact at what it published.

    This is the process boundary: a GavelError is printed plainly, anything else with its traceback, and either ends
    the process with status 1, which KFP reports as a failed task.

    Args:
        step: what to run.
        experiment: the resolved experiment as JSON.
        store: URL of the store's root.
        inputs: artifacts of earlier steps, by the step's name for them.
        output: gets ``uri`` and ``metadata`` (step, identity, sha256, reused, folder, and what the step returned).
        file: the published file that ``output`` is to point at, instead of the folder (``report.html``).
    """
    uris = {name: str(artifact.metadata.get(_FOLDER) or artifact.uri) for name, artifact in (inputs or {}).items()}
    try:
        published = execute(step, experiment, store, uris)
    except GavelError as error:
        sys.stderr.write(f"step {step.name} failed: {error}\n")
        raise SystemExit(1) from None
    except Exception as error:  # noqa: BLE001  the one process boundary
        traceback.print_exc()
        sys.stderr.write(f"step {step.name} failed: {type(error).__name__}: {error}\n{_disk_hint()}")
        raise SystemExit(1) from None
    if output is not None:
        output.uri = join_url(published.uri, file)
        output.metadata.update(artifact_metadata(step.name, published))
    return published


def _disk_hint() -> str:
    """What many libraries do not say of a full disk."""
    state = state_folder()
    free = free_bytes(state)
    return "" if free > _LITTLE else f"only {size_text(free)} are free on the disk of {state}: that may be the cause\n"


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
