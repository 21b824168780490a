"""One ``main`` for packages that have several commands: ``python -m components.NAME COMMAND ...``."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence

from components.core.errors import GavelError


def run_command(
    program: str,
    commands: Mapping[str, tuple[str, str]],
    arguments: Sequence[str] | None,
    *,
    more: str = "",
    stopped: str = "",
) -> int:
    """Run one command, and return the exit status: 1 after an error that the user can mend, 2 where none is named.

    Args:
        program: such as ``components.judge``.
        commands: name -> module with ``main(argv) -> int``, imported when it is asked for; and what it does.
        arguments: without the program; None takes the process's.
        more: a line below the list of commands.
        stopped: what is said after ctrl-C.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in commands:
        return _usage(program, commands, given, more)
    try:
        code = int(importlib.import_module(commands[given[0]][0]).main(given[1:]))
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
        if stopped:
            print(f"\n{stopped}", file=sys.stderr)
        return 130


def _usage(program: str, commands: Mapping[str, tuple[str, str]], given: Sequence[str], more: str) -> int:
    """What there is: on standard output for one who asked, and beside the error for one who did not."""
    asked = list(given[:1]) in (["-h"], ["--help"])
    out = sys.stdout if asked else sys.stderr
    if given and not asked:
        print(f"error: no command {given[0]!r}; there are: {', '.join(commands)}", file=out)
    print(f"usage: python -m {program} COMMAND ..., each with --help\n", file=out)
    width = max(map(len, commands)) + 2
    for name, (_, text) in commands.items():
        print(f"  {name:<{width}}{text}", file=out)
    if more:
        print(f"\n{more}", file=out)
    return 0 if asked else 2
