"""The step runtime: identity, reuse, work that survives, publishing, the error boundary."""

from components.core.step.execute import execute
from components.core.step.kfp import kfp_step
from components.core.step.model import Elsewhere, Published, Step, StepContext

__all__ = ["Elsewhere", "Published", "Step", "StepContext", "execute", "kfp_step"]
