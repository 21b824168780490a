"""The command line: ``python -m components.workflow COMMAND``."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from components.core.errors import GavelError

COMMANDS: Final = {
    "buffer": ("components.workflow.buffer.cli", "what an experience buffer holds, and what it finds"),
    "check": ("components.workflow.check", "try the generator, the judge and the path of HumanEval, each quickly"),
}
"""Name -> module with ``main(argv) -> int``, imported when it is asked for; and what it does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in COMMANDS:
        if given and given[0] not in ("-h", "--help"):
            print(f"error: no command {given[0]!r}; there are: {', '.join(COMMANDS)}", file=sys.stderr)
        print("usage: python -m components.workflow COMMAND ...\n", file=sys.stderr)
        for name, (_, text) in COMMANDS.items():
            print(f"  {name:<9}{text}", file=sys.stderr)
        return 0 if given[:1] in (["-h"], ["--help"]) else 2
    try:
        code = int(importlib.import_module(COMMANDS[given[0]][0]).main(given[1:]))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
