"""Model weights in memory that two processes share, so that a weight sync is one copy and no message.

The rollout server lays its parameters out in one file of shared memory and describes it in a small layout file; the
trainer maps the same memory and writes into it. Between the two lies verl's own order of calls: no generation runs
while weights are written.
"""

import json
import os
import shutil
import uuid
from pathlib import Path

import torch
from transformers import PreTrainedModel

_ALIGN = 16
"""Elements between the starts of tensors are a multiple of this: 64 bytes for float32."""

_MEMORY = Path("/dev/shm")


def share_parameters(model: PreTrainedModel, layout_file: Path, memory: Path = _MEMORY) -> None:
    """Move the model's parameters into new shared memory, described by ``layout_file``.

    Args:
        model: float32; tied parameters are stored once.
        layout_file: a JSON file to make. Its folder holds the weights as well where ``memory`` is missing or too small.
        memory: a memory file system.
    """
    layout: dict[str, tuple[int, list[int]]] = {}
    total = 0
    for name, parameter in model.named_parameters():
        layout[name] = (total, list(parameter.shape))
        total += -(-parameter.numel() // _ALIGN) * _ALIGN
    folder = memory if _fits(memory, total * 4) else layout_file.parent
    path = folder / f"gavel-weights-{uuid.uuid4().hex}"
    buffer = torch.from_file(str(path), shared=True, size=total, dtype=torch.float32)
    for name, parameter in model.named_parameters():
        view = _view(buffer, *layout[name])
        view.copy_(parameter.detach())
        parameter.data = view
    partial = layout_file.with_suffix(".partial")
    partial.write_text(json.dumps({"path": str(path), "total": total, "tensors": layout}))
    partial.replace(layout_file)


def remove_left_over(layout_file: Path) -> None:
    """Free the memory of a run that was killed before both sides had mapped it."""
    if layout_file.exists():
        Path(json.loads(layout_file.read_text())["path"]).unlink(missing_ok=True)
        layout_file.unlink()


class SharedWeights:
    """The trainer's side of shared weights."""

    def __init__(self, layout_file: Path) -> None:
        """Map the memory that :func:`share_parameters` described, and take its name away.

        Without a name the memory is freed when the last of the two processes ends, however it ends.
        """
        layout = json.loads(layout_file.read_text())
        buffer = torch.from_file(layout["path"], shared=True, size=layout["total"], dtype=torch.float32)
        Path(layout["path"]).unlink()
        layout_file.unlink()
        self._views = {name: _view(buffer, start, shape) for name, (start, shape) in layout["tensors"].items()}
        self._written: set[str] = set()

    def write(self, name: str, tensor: torch.Tensor) -> None:
        """Copy one parameter; a name that the rollout model ties to another is passed over.

        Raises:
            ValueError: the shape differs.
        """
        view = self._views.get(name)
        if view is None:
            return
        if view.shape != tensor.shape:
            raise ValueError(f"weight {name} has shape {tuple(tensor.shape)}, the rollout expects {tuple(view.shape)}")
        view.copy_(tensor.detach())
        self._written.add(name)

    def finish(self) -> int:
        """Check that every parameter was written since the last call, and return their number.

        Raises:
            ValueError: some were not; the rollout would mix old and new weights.
        """
        missing = sorted(set(self._views) - self._written)
        self._written = set()
        if missing:
            raise ValueError(f"weight sync left out {len(missing)} parameters: {missing[:4]}")
        return len(self._views)


def _fits(folder: Path, size: int) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > size + (64 << 20)


def _view(buffer: torch.Tensor, start: int, shape: list[int]) -> torch.Tensor:
    return buffer[start : start + torch.Size(shape).numel()].view(shape)
