"""The error of a model that computes what is no number."""

from pathlib import Path

from components.core.errors import StepError


def non_finite(model: str | Path) -> StepError:
    """Of logits that are NaN or infinite.

    Args:
        model: its folder.
    """
    return StepError(
        "the model's logits are NaN or infinite, so that no token follows from them",
        where=str(model),
        remedy="take another checkpoint if its training diverged; a dtype of too small a range overflows as well",
    )
