"""What the trainer's driver does for Gavel: brings in the advantage estimator, marks checkpoints whose step is logged,
logs no number for an update that was not made, keeps the reward where its files are, and draws a mixture in its shares.

verl imports this module by name before it computes the first advantage, on GPUs as on the CPU.
"""

import json
import time
from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from verl.experimental.reward_loop import RewardLoopManager
from verl.trainer.ppo.checkpoint_callback import CheckpointCallback
from verl.trainer.ppo.utils import create_rl_sampler
from verl.trainer.ppo.v1 import trainer_base
from verl.utils.tracking import Tracking

import components.reward.verl_advantage  # noqa: F401  (registers the estimator)
from components.engine.checkpoints import MARK
from components.engine.mixture_sampler import sampler_for
from components.engine.updates import settle

_HEAD = "node:__internal_head__"
"""Resource by which Ray marks the head."""


_unmarked: dict[int, Path] = {}
"""Folders of checkpoints by the steps whose metrics are not logged yet."""


class CheckpointMark(CheckpointCallback):  # type: ignore[misc]
    """Has a checkpoint marked as whole.

    verl saves before it logs the step. A trainer that is killed in between would go on after the step and leave its
    metrics out, so :class:`SettledTracking` writes the mark behind them.
    """

    def on_save(
        self, trainer: Any, global_step: int, checkpoint_dir: str, async_save: bool = False, **kwargs: Any
    ) -> None:
        """Remember ``checkpoint_dir``, of which verl has written everything."""
        _unmarked[global_step] = Path(checkpoint_dir)


class SettledTracking(Tracking):  # type: ignore[misc]
    """verl's loggers, with a step's metrics settled first, and its checkpoint marked after them."""

    def log(self, data: dict[str, Any], step: int, backend: Any = None) -> None:
        """Log ``data`` under ``step``."""
        super().log(data=settle(data), step=step, backend=backend)
        folder = _unmarked.pop(step, None)
        if folder is not None:
            (folder / MARK).write_text(json.dumps({"step": step, "time": time.time()}))


class HeadRewardLoop(RewardLoopManager):  # type: ignore[misc]
    """verl's reward workers, on the head of a Ray of several nodes: the ledger and the log of rollouts are SQLite files
    in a folder that the nodes share, and only processes of one node may open such a file together."""

    def _init_reward_loop_workers(self) -> None:
        head = next(node["NodeID"] for node in ray.nodes() if node["Alive"] and _HEAD in node["Resources"])
        place = NodeAffinitySchedulingStrategy(node_id=head, soft=False)
        self.reward_loop_workers = [
            self.reward_loop_workers_class.options(
                name=f"reward_loop_worker_{index}", scheduling_strategy=place
            ).remote(self.config, self.reward_router_address)
            for index in range(self.config.reward.num_workers)
        ]


def create_sampler(data_config: Any, dataset: Any) -> Any:
    """The sampler of the training prompts: the mixture's where the configuration names its plan, else verl's."""
    return (sampler_for if data_config.get("gavel_draw") else create_rl_sampler)(data_config, dataset)


# The trainer makes its loggers, its reward loop and its sampler by these names, and verl has no hook for any of them.
trainer_base.Tracking = SettledTracking
trainer_base.RewardLoopManager = HeadRewardLoop
trainer_base.create_rl_sampler = create_sampler
