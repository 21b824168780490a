"""Whether a response's last answer equals the expected one; the prelude of a sandbox, with math-verify beside it.

The published rubric code tries math-verify on the whole response and then another normaliser; here one place is looked
at, so that a response cannot be right by naming several answers.
"""

import itertools
import re
import sys
import types
from typing import Any

_BOX = re.compile(r"\\(?:boxed|fbox)\s*")
_TOKEN = re.compile(r"[^\s$\\{}]+")
_NO_ANSWER = (MemoryError, RecursionError, ImportError)
"""What math-verify and SymPy swallow in many places, and then hold the two for different."""
_NEEDED = frozenset({"sympy", "mpmath", "latex2sympy2_extended", "math_verify", "antlr4"})
_TAIL = 2000
"""Characters at the end of a response without a box that are searched for an answer."""


def check(answer: str, response: str) -> bool:
    """Whether the last box of the response, or its last answer when it has none, equals ``answer``.

    A response without any answer equals nothing: False.

    Raises:
        ValueError: no expression can be read from ``answer``.
        Exception: whatever math-verify or SymPy raise while they compare what is not equal by another way; also what
            they raise and swallow, where it says that the comparison could not be made.
    """
    troubles: list[BaseException] = []

    def notice(frame: types.FrameType, event: str, argument: object) -> Any:
        frame.f_trace_lines = False
        if event == "exception" and isinstance(argument, tuple) and issubclass(argument[0], _NO_ANSWER):
            troubles.append(argument[1] if isinstance(argument[1], BaseException) else argument[0](argument[1]))
        return notice

    sys.settrace(notice)
    try:
        if _equal(answer, response):
            return True
        for error in troubles:
            if not isinstance(error, ImportError) or str(error.name).partition(".")[0] in _NEEDED:
                raise error
        if sys.gettrace() is not notice:
            raise RecursionError("the comparison ran out of stack")
        return False
    finally:
        sys.settrace(None)


def _equal(answer: str, response: str) -> bool:
    import math_verify  # type: ignore[import-not-found, import-untyped, unused-ignore]

    gold = _read("\\boxed{" + answer + "}") or _read(answer)
    if not gold:
        raise ValueError(f"the expected answer is no expression: {answer[:100]!r}")
    box = last_box(response)
    target = _read(response[-_TAIL:]) if box is None else _read("\\boxed{" + box + "}") or [box.strip()]
    trouble = None
    pairs = list(itertools.product(gold, target))
    for left, (one, other) in zip(range(len(pairs) - 1, -1, -1), pairs, strict=True):
        try:
            if math_verify.verify(one, other, timeout_seconds=None, raise_on_error=True):
                return True
        except Exception as error:
            # Another pair may be equal; if none is, it is raised in the end.
            trouble = error
            if not left:
                raise
    if trouble is not None:
        raise trouble
    return False


def last_box(text: str) -> str | None:
    r"""Content of the last ``\boxed`` or ``\fbox`` that is closed; without braces, the word behind it."""
    for match in reversed(list(_BOX.finditer(text))):
        begin = match.end()
        if text[begin : begin + 1] == "{":
            end = _closing(text, begin)
            if end is not None:
                return text[begin + 1 : end]
        elif token := _TOKEN.match(text, begin):
            return token.group().rstrip(".,;:")
    return None


def _closing(text: str, begin: int) -> int | None:
    """Index of the brace that closes the one at ``begin``; escaped braces are letters."""
    depth, index = 0, begin
    while index < len(text):
        letter = text[index]
        if letter == "\\":
            index += 1
        elif letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                return index
        index += 1
    return None


def _read(text: str) -> list[object]:
    """Expressions that may be meant, the parsed form first; empty when there is none."""
    import math_verify

    found: list[object] = math_verify.parse(text, parsing_timeout=None, raise_on_error=True)
    return found
