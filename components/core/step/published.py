"""Looking whether a step's result is there, without running the step."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from components.core.identity import canonical_json, identity, package_versions
from components.core.progress import Progress
from components.core.step.model import Published, Step
from components.core.step.results import Results
from components.core.step.version import code_version_of
from components.core.store import Store

if TYPE_CHECKING:
    from components.core.spec import Experiment


def find_published(
    step: Step,
    experiment: "Experiment",
    store_url: str,
    inputs: Mapping[str, Published] = MappingProxyType({}),
) -> Published | None:
    """What a step published for this experiment and these inputs, with this code; None where there is nothing whole.

    Args:
        step: one whose packages are installed here.
        experiment: for which.
        store_url: root of the store.
        inputs: results that the step reads, by its name for them.

    Raises:
        StorageError: the store cannot be read.
        StepError: a package of the step is not installed.
    """
    depends = json.loads(canonical_json(step.depends(experiment)))
    code = code_version_of(step, experiment)
    hashes = {name: published.sha256 for name, published in inputs.items()}
    found = identity(step.name, depends, hashes, code, package_versions(step.packages))
    return Results(Store.open(store_url), experiment.name, step.name, found).find(Progress(step.name))
