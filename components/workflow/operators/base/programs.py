"""Programs in the replies of an executor model."""

import keyword
import re
from typing import Final

from components.tasks.code_text import program_text
from components.workflow.errors import OperatorError, OperatorReason

_MOST: Final = 64 << 10
"""Characters of a program."""


def program_in(reply: str, name: str) -> str:
    """The program of a reply that defines ``name``: of several fenced blocks, the last one that does.

    Nothing is run or parsed here: whether it is Python shows in the sandbox.

    Raises:
        OperatorError: no block defines it, or it is too long.
    """
    program = program_text(reply, name).strip("\n")
    if not re.search(
        rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{re.escape(name)}\b|^{re.escape(name)}[ \t]*=", program, re.M
    ):
        raise OperatorError(OperatorReason.NO_CODE, f"the reply has no program that defines {name}")
    if len(program) > _MOST:
        raise OperatorError(OperatorReason.NO_CODE, f"the program has {len(program)} characters; at most {_MOST}")
    return program


def check_name(name: str) -> None:
    """Nothing, where a function may have this name.

    Raises:
        OperatorError: it cannot be a function's name.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise OperatorError(OperatorReason.ARGUMENTS, f"entry_point must be the name of a function, got {name[:40]!r}")
