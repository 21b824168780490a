"""The command line: ``python -m components.checkpoint merge CHECKPOINT TARGET``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from components.checkpoint.merged_copy import merge_to
from components.core.errors import ConfigError, GavelError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        for name in ("checkpoint", "target"):
            # Make gives an empty one where its variable is not set; as a path it would mean the current folder.
            if not getattr(options, name).strip():
                raise ConfigError(
                    f"{name.upper()}= is missing", where="merge", remedy="make merge CHECKPOINT=FOLDER TARGET=FOLDER"
                )
        found = merge_to(options.checkpoint, Path(options.target), options.dtype)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, value in found.items():
        print(f"{name:26} {value:.3g}" if isinstance(value, float) else f"{name:26} {value}")
    print(f"merged and verified: {options.target}")
    return 0


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
    merge.add_argument("target", help="folder to make")
    merge.add_argument(
        "--dtype", choices=("float32", "bfloat16"), default="float32", help="of the merged weights (default: float32)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
