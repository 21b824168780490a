"""The command line: ``python -m components.checkpoint merge CHECKPOINT TARGET``."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError, GavelError
from components.core.manifest import Scalar
from components.core.progress import Progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        found = merge_to(options.checkpoint, options.target, options.dtype)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, value in found.items():
        print(f"{name:26} {value:.3g}" if isinstance(value, float) else f"{name:26} {value}")
    print(f"merged and verified: {options.target}")
    return 0


def merge_to(checkpoint: str, target: Path, dtype: str = "float32") -> dict[str, Scalar]:
    """Merge a checkpoint into ``target``, which appears once it is whole and verified.

    Args:
        checkpoint: a path, ``file://`` or ``s3://``.
        target: a folder that does not exist yet, or is empty.
        dtype: ``float32`` or ``bfloat16``; of the merged weights.

    Returns:
        What :func:`components.checkpoint.merged.merge_verified` says.

    Raises:
        ConfigError: the target is in use, or there is nothing to merge.
        StepError: there is no whole checkpoint, or something of the training was lost.
    """
    import torch

    from components.checkpoint.given import find
    from components.checkpoint.merged import merge_verified
    from components.engine.environment import environment_on

    target = target.absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError("the target is there already", where=str(target), remedy="name a new folder, or remove it")
    progress = Progress("merge")
    located = find(checkpoint, progress)
    if located.merged:
        raise ConfigError(
            "this is a merged model already", where=str(located.folder), remedy="use it as it is (MODEL=... for IFEval)"
        )
    scratch = target.with_name(f".{target.name}.partial")
    log = target.with_name(f".{target.name}.log")
    scratch.parent.mkdir(parents=True, exist_ok=True)
    accelerator = "gpu" if torch.cuda.is_available() else "cpu"
    found = merge_verified(
        located.folder,
        scratch,
        environment=environment_on(accelerator, torch.get_num_threads()),
        log=log,
        dtype=dtype,
        progress=progress,
    )
    shutil.rmtree(target, ignore_errors=True)
    scratch.rename(target)
    log.unlink(missing_ok=True)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m components.checkpoint", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    merge = commands.add_parser(
        "merge",
        help="merge a trainer's checkpoint into a model folder",
        description="Merge the shards of a verl checkpoint, adapters included, into a Hugging Face folder, and compare "
        "its logits with those of the trainer's weights.",
    )
    merge.add_argument("checkpoint", help=".../global_step_N, .../actor or a published training; a path or s3:// URL")
    merge.add_argument("target", type=Path, help="folder to make")
    merge.add_argument(
        "--dtype", choices=("float32", "bfloat16"), default="float32", help="of the merged weights (default: float32)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
