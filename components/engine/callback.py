"""What the trainer's driver does for Gavel: brings in the advantage estimator, and marks whole checkpoints.

verl imports this module by name before it computes the first advantage, on GPUs as on the CPU.
"""

import json
import time
from pathlib import Path
from typing import Any

from verl.trainer.ppo.checkpoint_callback import CheckpointCallback

import components.reward.verl_advantage  # noqa: F401  (registers the estimator)
from components.engine.checkpoints import MARK


class CheckpointMark(CheckpointCallback):  # type: ignore[misc]
    """Writes the mark after verl has written everything else."""

    def on_save(
        self, trainer: Any, global_step: int, checkpoint_dir: str, async_save: bool = False, **kwargs: Any
    ) -> None:
        """Mark ``checkpoint_dir`` as whole."""
        Path(checkpoint_dir, MARK).write_text(json.dumps({"step": global_step, "time": time.time()}))
