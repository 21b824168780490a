"""A trainer's weights as whole tensors, from the shards of any number of ranks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.distributed.tensor import DTensor

from components.checkpoint.locate import check_whole
from components.core.errors import StepError
from components.models.loading import check_finite

_REPLICAS = ("ddp", "dp")
"""Names that verl gives a mesh's dimension whose members hold copies."""


def full_state(checkpoint: Path) -> dict[str, torch.Tensor]:
    """The model weights by name, in the trainer's own precision.

    Args:
        checkpoint: the actor's folder.

    Raises:
        StepError: the checkpoint is not whole, ranks contradict each other, or a tensor is split in a way that verl's
            FSDP does not use.
    """
    shards = [torch.load(path, map_location="cpu", weights_only=False, mmap=True) for path in check_whole(checkpoint)]
    names = [set(shard) for shard in shards]
    if any(name != names[0] for name in names):
        raise StepError("the ranks hold different weights", where=str(checkpoint))
    return {name: _whole(name, [shard[name] for shard in shards], str(checkpoint)) for name in shards[0]}


def check_diverged(checkpoint: Path) -> None:
    """Refuse the weights of a training that diverged, before anything is made of them.

    Args:
        checkpoint: the actor's folder.

    Raises:
        StepError: trained weights are NaN or infinite; as :func:`full_state`.
    """
    check_finite(
        full_state(checkpoint).items(),
        checkpoint,
        subject="trained weights",
        because=": the training diverged before this checkpoint was written",
        remedy="take an older checkpoint of this training; train again with a smaller training.learning_rate",
    )


def _whole(name: str, parts: Sequence[Any], where: str) -> torch.Tensor:
    first = parts[0]
    if not isinstance(first, DTensor):
        if any(part.shape != first.shape or not torch.equal(part, first) for part in parts[1:]):
            raise StepError(f"{name} is whole on each rank, and differs between them", where=where)
        return torch.as_tensor(first)
    mesh, placements = first.device_mesh, list(first.placements)
    if mesh.ndim == 2 and (mesh.mesh_dim_names or ("",))[0] in _REPLICAS:
        # Ranks run through the last dimension first: the first ones hold one whole copy.
        parts, placements = parts[: mesh.shape[1]], placements[1:]
    if len(placements) != 1 or not (placements[0].is_shard() or placements[0].is_replicate()):
        raise StepError(f"{name} is split as {first.placements}, which is not FSDP's way", where=where)
    local = [part._local_tensor for part in parts]
    whole = local[0] if placements[0].is_replicate() else torch.cat(local, dim=placements[0].dim)
    if whole.shape != first.shape:
        raise StepError(f"the ranks' parts of {name} make {tuple(whole.shape)}, not {tuple(first.shape)}", where=where)
    return whole
