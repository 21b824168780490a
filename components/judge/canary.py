"""How calls and verdicts about canaries (:mod:`components.reward.canaries`) are told from those about responses."""

from typing import Final

PREFIX: Final = "canary-"
"""Begins the sample ids of canaries, and those of nothing else: a rollout's begins with its step."""


def is_canary(sample_id: str | None) -> bool:
    """Whether a row of the ledger is about a canary."""
    return sample_id is not None and sample_id.startswith(PREFIX)
