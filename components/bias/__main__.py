"""The command line: ``python -m components.bias COMMAND``."""

import sys
from collections.abc import Sequence

from components.core.commands import run_command

_COMMANDS = {
    "list": ("components.bias.list_cli", "the probes, what they measure, and what is shipped for them"),
    "probe": ("components.bias.probe_cli", "probe one judge; a table of outcomes"),
    "rewrite": ("components.bias.rewrite_cli", "have a model write items for probes that take what models wrote"),
    "scripted": ("components.bias.scripted", "a judge with planted biases, over HTTP"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    return run_command("components.bias", _COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
