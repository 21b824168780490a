"""The step runtime: identity, reuse, work that survives, publishing, the error boundary."""

from components.core.step.execute import execute
from components.core.step.kfp import kfp_step
from components.core.step.model import Published, Step, StepContext

__all__ = ["Published", "Step", "StepContext", "execute", "kfp_step"]
