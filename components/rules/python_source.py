"""The source of a rule function in the text that came with the data; runs in the sandbox, before the function does.

Standard library alone, as it is a prelude of the sandbox: no parser in our own process meets untrusted text.
"""

import symtable
import sys
from collections.abc import Iterator
from typing import Any, Final

FUNCTION: Final = "check_following"
_LANGUAGES: Final = frozenset({"", "py", "python", "python3"})


def check(text: str, instruction: str, response: str) -> Any:
    """What the text's function says of the response.

    Raises:
        NameError: the text defines no such function.
        BaseException: whatever compiling, running and calling it raises.
    """
    space: dict[str, Any] = {"__name__": "sandboxed", "__builtins__": sys.modules["builtins"].__dict__}
    exec(compile(plain_source(text), "<sandboxed>", "exec", dont_inherit=True), space)
    if FUNCTION not in space:
        raise NameError(f"the source defines no {FUNCTION}")
    return space[FUNCTION](instruction, response)


def plain_source(text: str) -> str:
    """The Python source in a text that is such source, or is indented as a whole, or holds it in a fenced block.

    A text that defines the function itself is taken unchanged, whatever its strings hold. Of several blocks the first
    that defines the function is taken. Takes time in proportion to the text's length, the parser's apart.
    """
    text = text.replace("\r\n", "\n")
    if _defines(text):
        return text
    whole = _dedent(text)
    if whole != text and _defines(whole):
        return whole
    blocks = [_dedent(block) for block in _fenced(text) if FUNCTION in block]
    return next((block for block in blocks if _defines(block)), blocks[0] if blocks else whole)


def _defines(source: str) -> bool:
    try:
        symbol = symtable.symtable(source, "<text>", "exec").lookup(FUNCTION)
    except (SyntaxError, ValueError, KeyError, RecursionError, MemoryError):
        return False
    return symbol.is_assigned() or symbol.is_imported()


def _fenced(text: str) -> Iterator[str]:
    """Contents of the blocks that name Python or nothing; one that is not closed is none."""
    fence, wanted, content = "", False, list[str]()
    for line in text.split("\n"):
        said = line.strip(" \t")
        mark = said[:1]
        length = len(said) - len(said.lstrip(mark)) if mark and mark in "`~" else 0
        if not fence:
            told = said[length:].strip().lower()
            if length >= 3 and not (mark == "`" and mark in told):
                fence, wanted, content = mark * length, told in _LANGUAGES, []
        elif length == len(said) and said.startswith(fence):
            if wanted:
                yield "\n".join([*content, ""])
            fence = ""
        else:
            content.append(line)


def _dedent(text: str) -> str:
    """Without the white space that all lines begin with, blank ones apart; the text itself where they share none."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip(" \t")]
    if not filled:
        return text
    first, last = min(filled), max(filled)
    size = 0
    while first[size] in " \t" and first[size] == last[size : size + 1]:
        size += 1
    if not size:
        return text
    margin = first[:size]
    return "\n".join(line.removeprefix(margin) if line.startswith(margin) else line.lstrip(" \t") for line in lines)
