"""Looking whether a step's result is there, without running the step."""

import json
from typing import TYPE_CHECKING

from components.core.identity import canonical_json, identity, package_versions
from components.core.progress import Progress
from components.core.step.model import Published, Step
from components.core.step.results import Results
from components.core.step.version import code_version_of
from components.core.store import Store

if TYPE_CHECKING:
    from components.core.spec import Experiment


def find_published(step: Step, experiment: "Experiment", store_url: str) -> Published | None:
    """What a step without inputs published for this experiment, with this code; None where there is nothing whole.

    Args:
        step: one that reads no other step's result.
        experiment: for which.
        store_url: root of the store.

    Raises:
        StorageError: the store cannot be read.
    """
    depends = json.loads(canonical_json(step.depends(experiment)))
    code = code_version_of(step, experiment)
    found = identity(step.name, depends, {}, code, package_versions(step.packages))
    return Results(Store.open(store_url), experiment.name, step.name, found).find(Progress(step.name))
