"""Registers Gavel's estimator with verl under the name ``gavel_grpo``."""

from typing import Any

import numpy as np
import torch
from verl.trainer.ppo.core_algos import register_adv_est

from components.reward.advantage import grpo_advantages

NAME = "gavel_grpo"


@register_adv_est(NAME)
def gavel_grpo(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: np.ndarray,
    config: Any = None,
    norm_adv_by_std_in_grpo: bool = True,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """verl's view of :func:`components.reward.advantage.grpo_advantages`.

    Abstained samples never reach this place: their reward raised and verl put a row without any response token in
    their stead. Such rows take no part; samples whose group tells nothing get advantage 0.

    Args:
        token_level_rewards: (batch, response length), the reward at one token of each row and 0 elsewhere.
        response_mask: (batch, response length), 1 at the response's tokens.
        index: (batch,), the prompt's uid.
        config: verl's algorithm section; its ``norm_adv_by_std_in_grpo`` wins over the argument.
        norm_adv_by_std_in_grpo: scale by the group's standard deviation.

    Returns:
        Advantages and returns, which are the same for an outcome reward: (batch, response length).
    """
    divide = norm_adv_by_std_in_grpo if config is None else bool(config.get("norm_adv_by_std_in_grpo", True))
    totals = (token_level_rewards * response_mask).sum(-1).tolist()
    judged = response_mask.bool().any(-1).tolist()
    rewards = [total if is_judged else None for total, is_judged in zip(totals, judged, strict=True)]
    advantages = grpo_advantages(rewards, list(index), divide_by_deviation=divide)
    row_values = token_level_rewards.new_tensor([0.0 if value is None else value for value in advantages])
    spread = row_values[:, None] * response_mask
    return spread, spread
