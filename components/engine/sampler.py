"""verl's replay buffer, looking for finished groups five times a second, and masking those that tell nothing.

With small models a step lasts seconds, and the trainer would sleep through a good part of each.
"""

from typing import Any

from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from components.engine.mixture_sampler import RECORD, kept_shares
from components.reward.verl_groups import canary_metrics, judge_metrics, mask_groups

POLL_SECONDS = 0.2

_EVICTED = "training/rollout_failure/evicted_samples"
"""verl's name for the number of groups that it replaced."""


class QuickReplayBuffer(ReplayBuffer):  # type: ignore[misc]
    """Also replaces groups without a single judged sample by fresh prompts, instead of failing the step."""

    def __init__(self, *args: Any, trainer_config: Any = None, **kwargs: Any) -> None:
        super().__init__(
            *args,
            trainer_config=trainer_config,
            poll_interval=POLL_SECONDS,
            train_batch_size=int(trainer_config["train_batch_size"]),
            gen_batch_size=1,
            sync_refill_failed_groups=True,
            **kwargs,
        )

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict[str, Any]]:
        """verl's batch, with the masks of groups that tell nothing set to 0 and the judge's rates and canaries in the
        metrics; also how many prompts were replaced since none of their samples was judged, and of a mixture what was
        drawn and what of it tells something."""
        batch, metrics = super().sample(global_steps, partition_id, batch_size)
        if partition_id != "val":
            # verl says nothing of it in a step without one.
            refilled = {"judge/refilled_groups": float(metrics.get(_EVICTED, 0))}
            masks = mask_groups(batch)
            drawn = RECORD.take() | kept_shares(batch) if RECORD.active else {}
            judged = judge_metrics(global_steps) | canary_metrics(global_steps)
            metrics = {**metrics, **refilled, **masks, **judged, **drawn}
        return batch, metrics
