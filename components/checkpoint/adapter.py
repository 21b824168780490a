"""Low-rank adapters in a trainer's checkpoint, apart from the base that they change."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import torch

from components.core.errors import StepError

META = "lora_train_meta.json"
_PREFIX = "base_model.model."


@dataclasses.dataclass(frozen=True)
class Adapter:
    """Adapters and what they are laid over.

    Attributes:
        base: weights of the base, by the model's own names.
        weights: of the adapters, by peft's names with ``.default`` left out.
        rank: of the adapters.
        alpha: the update is multiplied by alpha / rank.
    """

    base: Mapping[str, torch.Tensor]
    weights: Mapping[str, torch.Tensor]
    rank: int
    alpha: float

    @property
    def layers(self) -> list[str]:
        """Names of the adapted layers in the model."""
        return sorted(
            {name.removeprefix(_PREFIX).rsplit(".lora_A", 1)[0] for name in self.weights if ".lora_A." in name}
        )

    @property
    def is_zero(self) -> bool:
        """Whether no layer is changed: each product has a factor of zeros, as before training."""
        return not any(self._changes(layer) for layer in self.layers)

    def _changes(self, layer: str) -> bool:
        return all(bool(self.weights[f"{_PREFIX}{layer}.lora_{half}.weight"].any()) for half in "AB")


def has_adapter(state: Mapping[str, torch.Tensor]) -> bool:
    """Whether a trainer's weights are a base with adapters."""
    return any(".lora_A." in name for name in state)


def split_adapter(state: Mapping[str, torch.Tensor], checkpoint: Path) -> Adapter:
    """Take the trainer's weights apart.

    Args:
        state: names as peft gives them.
        checkpoint: the actor's folder, for rank and alpha.

    Raises:
        StepError: rank or alpha is not recorded; they do not follow from the weights.
    """
    path = checkpoint / META
    try:
        meta = json.loads(path.read_text())
        rank, alpha = int(meta["r"]), float(meta["lora_alpha"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StepError(
            f"the scale of the adapters is not recorded: {error!r}",
            where=str(path),
            remedy=f'write it by hand if you know it: {{"r": RANK, "lora_alpha": ALPHA}} into {META}',
        ) from error
    if rank < 1 or alpha <= 0:
        raise StepError(f"rank {rank} and alpha {alpha:g} scale the adapters away", where=str(path))
    base, weights = {}, {}
    for name, tensor in state.items():
        if ".lora_" in name:
            weights[name.replace(".default.", ".")] = tensor
        else:
            base[name.removeprefix(_PREFIX).replace(".base_layer.", ".")] = tensor
    return Adapter(base, weights, rank, alpha)
