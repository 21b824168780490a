"""Whether an answer equals the expected one by computer algebra; the prelude of a sandbox, with math-verify beside it.

The published rubric code tries math-verify on the whole response and then another normaliser; here one place is looked
at, so that a response cannot be right by naming several answers.
"""

import itertools
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

_NO_ANSWER = (MemoryError, RecursionError, ImportError)
"""What math-verify and SymPy swallow in many places, and then hold the two for different."""
_NEEDED = frozenset({"sympy", "mpmath", "latex2sympy2_extended", "math_verify", "antlr4"})


_Found = TypeVar("_Found")


class Unreadable(ValueError):  # noqa: N818 - a finding, which becomes the word of a result
    """An expression that cannot be read.

    Attributes:
        whose: ``gold`` or ``answer``.
    """

    def __init__(self, whose: str, text: str) -> None:
        super().__init__(f"the {'expected answer' if whose == 'gold' else whose} is no expression: {text[:100]!r}")
        self.whose = whose


def check(answer: str, box: str | None, context: str) -> bool:
    """Whether ``box``, or the last answer in ``context`` where there is no box, equals ``answer``.

    A text without any answer equals nothing: False.

    Raises:
        ValueError: no expression can be read from ``answer``.
        Exception: whatever math-verify or SymPy raise while they read or compare what is not equal by another way; also
            what they raise and swallow, where it says that the comparison could not be made.
    """

    def work() -> bool:
        gold = _gold(answer)
        return _any_equal(gold, _target(box, context))

    return _watched(work)


def compare(answer: str, box: str | None, context: str) -> str:
    """As :func:`check`, with a word for each ending that says something: equal, different, gold or answer.

    ``gold`` and ``answer`` are those that cannot be read. Reading the answer is a wrong answer's own risk, so whatever
    goes wrong there makes it unreadable.

    Raises:
        Exception: the comparison of two readable expressions could not be made.
    """
    try:
        gold = _watched(lambda: _gold(answer))
    except Unreadable as error:
        return error.whose
    try:
        target = _watched(lambda: _target(box, context))
    except Exception:  # noqa: BLE001 - whatever it is, the text to be read brought it about
        return "answer"
    if not target:
        return "answer"
    return "equal" if _watched(lambda: _any_equal(gold, target)) else "different"


def _watched(work: Callable[[], _Found]) -> _Found:
    """What ``work`` returns, unless it is no or nothing only because of an error that was swallowed: that is raised."""
    troubles: list[BaseException] = []

    def notice(frame: types.FrameType, event: str, argument: object) -> Any:
        frame.f_trace_lines = False
        if event == "exception" and isinstance(argument, tuple) and issubclass(argument[0], _NO_ANSWER):
            troubles.append(argument[1] if isinstance(argument[1], BaseException) else argument[0](argument[1]))
        return notice

    sys.settrace(notice)
    try:
        if found := work():
            return found
        for error in troubles:
            if not isinstance(error, ImportError) or str(error.name).partition(".")[0] in _NEEDED:
                raise error
        if sys.gettrace() is not notice:
            raise RecursionError("the comparison ran out of stack")
        return found
    finally:
        sys.settrace(None)


def _gold(answer: str) -> list[object]:
    gold = _read("\\boxed{" + answer + "}") or _read(answer)
    if not gold:
        raise Unreadable("gold", answer)
    return gold


def _target(box: str | None, context: str) -> list[object]:
    return _read(context) if box is None else _read("\\boxed{" + box + "}") or [box.strip()]


def _any_equal(gold: list[object], target: list[object]) -> bool:
    import math_verify  # type: ignore[import-not-found, import-untyped, unused-ignore]

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


def _read(text: str) -> list[object]:
    """Expressions that may be meant, the parsed form first; empty when there is none."""
    import math_verify

    found: list[object] = math_verify.parse(text, parsing_timeout=None, raise_on_error=True)
    return found
