"""The command line: ``python -m components.bias COMMAND``."""

import importlib
import sys
from collections.abc import Sequence

from components.core.errors import GavelError

_COMMANDS = {
    "list": ("components.bias.list_cli", "the probes, what they measure, and what is shipped for them"),
    "probe": ("components.bias.probe_cli", "probe one judge; a table of outcomes"),
    "rewrite": ("components.bias.rewrite_cli", "have a model write items for probes that take what models wrote"),
    "scripted": ("components.bias.scripted", "a judge with planted biases, over HTTP"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in _COMMANDS:
        if given and given[0] not in ("-h", "--help"):
            print(f"error: no command {given[0]!r}; there are: {', '.join(_COMMANDS)}", file=sys.stderr)
        print("usage: python -m components.bias COMMAND ...\n", file=sys.stderr)
        for name, (_, text) in _COMMANDS.items():
            print(f"  {name:<9}{text}", file=sys.stderr)
        return 0 if given[:1] in (["-h"], ["--help"]) else 2
    try:
        return int(importlib.import_module(_COMMANDS[given[0]][0]).main(given[1:]))
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
