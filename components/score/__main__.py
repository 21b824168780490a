"""The command line: ``python -m components.score COMMAND``."""

import sys
from collections.abc import Sequence

from components.core.commands import run_command

_COMMANDS = {"rescore": ("components.score.rescore", "score stored responses by another judge")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    return run_command(
        "components.score",
        _COMMANDS,
        arguments,
        more="Commands of their own: python -m components.score.ifeval, components.score.tasks",
        stopped="stopped; the same command goes on from here",
    )


if __name__ == "__main__":
    sys.exit(main())
