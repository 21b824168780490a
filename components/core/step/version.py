"""The code version of a step for one experiment."""

from typing import TYPE_CHECKING

from components.core.step.model import Step
from components.core.step.source import code_version

if TYPE_CHECKING:
    from components.core.spec import Experiment


def code_version_of(step: Step, experiment: "Experiment") -> str:
    """See :func:`components.core.step.source.code_version`.

    Raises:
        StepError: a module of the step is not there or cannot be parsed.
    """
    return code_version((step.module, *step.extra_modules), unused=step.unused(experiment))
