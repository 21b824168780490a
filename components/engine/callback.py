"""What the trainer's driver does for Gavel: brings in the advantage estimator, marks whole checkpoints, and logs no
number for an update that was not made.

verl imports this module by name before it computes the first advantage, on GPUs as on the CPU.
"""

import json
import time
from pathlib import Path
from typing import Any

from verl.trainer.ppo.checkpoint_callback import CheckpointCallback
from verl.trainer.ppo.v1 import trainer_base
from verl.utils.tracking import Tracking

import components.reward.verl_advantage  # noqa: F401  (registers the estimator)
from components.engine.checkpoints import MARK
from components.engine.updates import settle


class CheckpointMark(CheckpointCallback):  # type: ignore[misc]
    """Writes the mark after verl has written everything else."""

    def on_save(
        self, trainer: Any, global_step: int, checkpoint_dir: str, async_save: bool = False, **kwargs: Any
    ) -> None:
        """Mark ``checkpoint_dir`` as whole."""
        Path(checkpoint_dir, MARK).write_text(json.dumps({"step": global_step, "time": time.time()}))


class SettledTracking(Tracking):  # type: ignore[misc]
    """verl's loggers, with a step's metrics settled first."""

    def log(self, data: dict[str, Any], step: int, backend: Any = None) -> None:
        """Log ``data`` under ``step``."""
        super().log(data=settle(data), step=step, backend=backend)


# The trainer makes its loggers by this name, and verl has no hook for what they are given.
trainer_base.Tracking = SettledTracking
