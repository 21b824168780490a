"""Is the merged model the one that was trained?"""

import math
from pathlib import Path

from safetensors import safe_open

from components.checkpoint.shards import full_state
from components.core.errors import StepError

_SMALLEST = 1e-30
"""Weights below this count as this, so that zeros can be compared."""


def compare_weights(checkpoint: Path, model: Path) -> float:
    """Largest difference between trained and merged weights, relative to the weight; for full fine-tuning.

    Args:
        checkpoint: the actor's folder.
        model: the merged Hugging Face folder.

    Returns:
        The difference: 0 when the precision was kept, NaN where a weight of either is no number.

    Raises:
        StepError: a trained weight is missing from the merged model, or has another shape.
    """
    trained = full_state(checkpoint)
    worst, seen = 0.0, set()
    for file in sorted(model.glob("*.safetensors")):
        with safe_open(file, framework="pt") as merged:
            for name in merged.keys():  # noqa: SIM118  (safe_open offers no iteration)
                tensor = merged.get_tensor(name)
                if name not in trained or trained[name].shape != tensor.shape:
                    raise StepError(f"merged weight {name} is not among the trained ones", where=str(file))
                weights = trained[name].float()
                difference = (weights - tensor.float()).abs() / weights.abs().clamp(min=_SMALLEST)
                largest = float(difference.max())
                # max() passes over NaN as its second argument, and keeps it as its first.
                worst = largest if math.isnan(largest) else max(worst, largest)
                seen.add(name)
    missing = sorted(set(trained) - seen - {"lm_head.weight"})
    if missing:
        raise StepError(
            f"{len(missing)} trained weights are missing from the merged model: {missing[:3]}", where=str(model)
        )
    return worst
