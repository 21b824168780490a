"""The command line: ``python -m components.workflow COMMAND``."""

import sys
from collections.abc import Sequence
from typing import Final

from components.core.commands import run_command

COMMANDS: Final = {
    "buffer": ("components.workflow.buffer.cli", "what an experience buffer holds, and what it finds"),
    "check": ("components.workflow.check", "try the generator, the judge and the path of HumanEval, each quickly"),
}
"""Name -> module with ``main(argv) -> int``, imported when it is asked for; and what it does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    return run_command("components.workflow", COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
