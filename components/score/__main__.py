"""The command line: ``python -m components.score COMMAND``."""

import importlib
import sys
from collections.abc import Sequence

from components.core.errors import GavelError

_COMMANDS = {"rescore": ("components.score.rescore", "score stored responses by another judge")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in _COMMANDS:
        print("usage: python -m components.score COMMAND ...\n", file=sys.stderr)
        for name, (_, text) in _COMMANDS.items():
            print(f"  {name:<9}{text}", file=sys.stderr)
        print("\nCommands of their own: python -m components.score.ifeval, components.score.tasks", file=sys.stderr)
        return 0 if given[:1] in (["-h"], ["--help"]) else 2
    try:
        return int(importlib.import_module(_COMMANDS[given[0]][0]).main(given[1:]))
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
