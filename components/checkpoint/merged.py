"""From a trainer's checkpoint to a model folder that is known to be the trained one."""

from collections.abc import Mapping
from pathlib import Path

from components.checkpoint.adapter import META
from components.checkpoint.locate import check_whole
from components.checkpoint.merge import merge
from components.core.errors import StepError
from components.core.manifest import Scalar
from components.core.progress import Progress

_TOLERANCE = {"float32": 0.0, "bfloat16": 2.0**-8}
"""Largest difference between a trained weight and the merged one, relative to the weight: none, or half a unit in the
last of bfloat16's eight significant bits, doubled for safety."""

_MUCH = 0.5
"""Share of an adapter's effect that rounding may take without a word."""


def merge_verified(
    checkpoint: Path, model: Path, *, environment: Mapping[str, str], log: Path, dtype: str, progress: Progress
) -> dict[str, Scalar]:
    """Merge, and compare weights and logits of the outcome with the trainer's.

    Args:
        checkpoint: the actor's folder, with shards of any number of ranks.
        model: a folder to make; an older one is replaced.
        environment: that verl runs in.
        log: file for the merger's output.
        dtype: ``float32`` or ``bfloat16``; of the merged weights.
        progress: is told what goes on.

    Returns:
        ``bytes``, ``ranks``, ``logit_difference`` and, where there are adapters, ``adapter_effect``, both relative to
        the largest logit, and ``adapter_lost``, the share of it that rounding took; else ``largest_weight_difference``,
        relative to the weight.

    Raises:
        StepError: the checkpoint is not whole, its weights are not finite, the merger failed, or something of the
            training was lost.
    """
    ranks = len(check_whole(checkpoint))
    from components.checkpoint.shards import check_diverged

    progress.phase("reading the trained weights")
    check_diverged(checkpoint)
    progress.phase(
        f"merging the trainer's shards of {ranks} rank{'s' * (ranks > 1)} (verl takes some seconds to start)"
    )
    merge(checkpoint, model, environment, log, dtype=dtype)
    found: dict[str, Scalar] = {"bytes": sum(path.stat().st_size for path in model.rglob("*") if path.is_file())}
    found["ranks"] = ranks
    from components.checkpoint.logits import verify

    if not (checkpoint / META).is_file():
        from components.checkpoint.verify import compare_weights

        progress.phase("comparing merged and trained weights")
        worst = compare_weights(checkpoint, model)
        # A number that is none compares as False.
        if not worst <= _TOLERANCE[dtype]:
            raise StepError(
                f"merged weights differ from the trained ones by up to {worst:.2g} of a weight", where=str(model)
            )
        found["largest_weight_difference"] = worst
    progress.phase("comparing the logits of the merged model with the trainer's")
    agreement = verify(checkpoint, model, dtype)
    found["logit_difference"] = agreement.difference
    if agreement.adapter is not None:
        found["adapter_effect"] = agreement.adapter
        found["adapter_lost"] = agreement.lost
    if agreement.lost is not None and agreement.lost > _MUCH:
        progress.phase(
            f"warning: rounding to {dtype} moved the merged model's logits by {agreement.lost:.0%} of what the "
            "adapters do to them; train longer, set policy.dtype: float32, or serve base and adapter apart"
        )
    return found
