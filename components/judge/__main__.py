"""The command line: ``python -m components.judge COMMAND``."""

import sys
from collections.abc import Sequence

from components.core.commands import run_command

_COMMANDS = {
    "check": ("components.judge.check_cli", "send five calls to a judge, and say what works"),
    "serve": ("components.judge.serve", "serve a judge on this machine in the foreground"),
    "sweep": ("components.judge.leases.sweep", "end judges of the cluster that no run uses any more"),
    "ledger": ("components.judge.memory.cli", "totals of a ledger; parquet"),
    "parse": ("components.judge.parsing.cli", "the parser by hand"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    return run_command("components.judge", _COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
