"""verl's merger, made to keep the weights' own precision.

verl 0.9.1 rounds every weight to bfloat16. After a short training at a small learning rate, most of what was learned is
smaller than that rounding.
"""

import json
import sys
from pathlib import Path

import torch

_SAVED = "--target_dir"


def keep_precision() -> None:
    """Make ``Tensor.bfloat16``, which the merger calls on each shard, return the tensor as it is."""

    def as_it_is(tensor: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
        return tensor

    torch.Tensor.bfloat16 = as_it_is


def name_dtype(folder: Path, dtype: str) -> None:
    """Write into ``config.json`` what the weights are, since verl wrote bfloat16 there as well."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.pop("torch_dtype", None)
    config["dtype"] = dtype
    path.write_text(json.dumps(config, indent=2))


if __name__ == "__main__":
    from verl.model_merger.__main__ import main

    keep_precision()
    main()
    name_dtype(Path(sys.argv[sys.argv.index(_SAVED) + 1]), "float32")
