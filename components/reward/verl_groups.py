"""Between sampling and update: masks groups that tell nothing, and gives verl the judge's rates as metrics.

An advantage of 0 is not enough: the sample's tokens would still count in the denominator of the token mean and in the
KL term (verl 0.9.1, workers/utils/losses.py, reads ``response_mask`` for the sums and ``loss_mask`` for their number).
A mini-batch that is masked as a whole makes no update; see :mod:`components.engine.actor_engine`.
"""

import os
from pathlib import Path

import torch
import transfer_queue as tq  # type: ignore[import-untyped, import-not-found, unused-ignore]
from tensordict import TensorDict

from components.reward.advantage import grpo_advantages
from components.reward.canaries.counting import step_metrics
from components.reward.canaries.log import canaries_in
from components.reward.judge_rates import rates, rates_by_decile
from components.reward.rollout_log import RolloutLog
from components.reward.workflow_rates import workflow_rates
from components.workflow.log_name import NAME as WORKFLOWS

FOLDER_ENV = "GAVEL_TRAIN_FOLDER"
"""Environment variable with the training step's durable folder."""

WINDOW = 500
"""Newest samples whose lengths make the deciles; those of one step are too few for ten bins."""


def mask_groups(batch: tq.KVBatchMeta) -> dict[str, float]:
    """Set the masks of all samples to 0 whose group has fewer than two judged samples, or none that differ.

    Args:
        batch: sampled and judged, before padding; keys are ``GROUP_SESSION_INDEX``.

    Returns:
        ``judge/groups``, ``judge/masked_groups`` and ``judge/masked_samples``.
    """
    groups = [key.rsplit("_", 2)[0] for key in batch.keys]
    data = tq.kv_batch_get(
        keys=batch.keys, partition_id=batch.partition_id, select_fields=["rm_scores", "response_mask"]
    )
    totals = [float(scores.sum()) for scores in data["rm_scores"]]
    advantages = grpo_advantages(totals, groups)
    masked = [place for place, advantage in enumerate(advantages) if advantage is None]
    if masked:
        masks = list(data["response_mask"])
        zeros = torch.nested.as_nested_tensor([torch.zeros_like(masks[place]) for place in masked], layout=torch.jagged)
        tq.kv_batch_put(
            keys=[batch.keys[place] for place in masked],
            partition_id=batch.partition_id,
            fields=TensorDict({"response_mask": zeros, "loss_mask": zeros.clone()}, batch_size=len(masked)),
        )
    return {
        "judge/groups": float(len(set(groups))),
        "judge/masked_groups": float(len({groups[place] for place in masked})),
        "judge/masked_samples": float(len(masked)),
    }


def judge_metrics(step: int) -> dict[str, float]:
    """The judge's rates over the step's samples as ``judge/RATE``, and over the newest ones by decile of length; of
    workflows also what became of them, as ``workflow/NAME``.

    Args:
        step: the trainer's step, all of whose samples are judged.
    """
    log = RolloutLog(_log_file())
    try:
        own, newest = log.judged_in(step), log.newest_judged(WINDOW)
        workflows = workflow_rates(log.parts_in(step)) if (_folder() / WORKFLOWS).exists() else {}
    finally:
        log.close()
    found = {"abstained_samples": float(sum(sample.abstained for sample in own)), **rates(own)}
    judged = {f"judge/{name}": value for name, value in (found | rates_by_decile(newest)).items()}
    return judged | {f"workflow/{name}": value for name, value in workflows.items()}


def canary_metrics(step: int) -> dict[str, float]:
    """What became of the step's canaries, as ``canary/...``; nothing in a training without them.

    Args:
        step: the trainer's step, all of whose samples are judged.
    """
    return step_metrics(canaries_in(_log_file(), step))


def _log_file() -> Path:
    return _folder() / "rollouts.sqlite"


def _folder() -> Path:
    return Path(os.environ[FOLDER_ENV])
