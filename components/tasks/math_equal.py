"""Whether a mathematical answer is right: by notation at once, else by computer algebra in a process of its own."""

import dataclasses
import re
from collections.abc import Callable
from typing import Final

from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind
from components.tasks.answers import Found, Place
from components.tasks.math_worker import MathWorker
from components.tasks.notation import plain, same, values

_PASSING: Final = frozenset({FailureKind.TIMEOUT, FailureKind.KILLED, FailureKind.MEMORY})
_TOWER: Final = re.compile(
    r"([0-9]{1,400})\s?[)}]?\s?(?:\^|\*\*)\s?[({]{0,2}\s?([0-9]{1,400})\s?[)}]?\s?(?:\^|\*\*)\s?[({]{0,2}\s?([0-9]{1,400})"
)
_POWER: Final = re.compile(
    r"(?<![0-9])(?:[2-9]|[1-9][0-9]{1,400})\s?[)}]?\s?(?:\^|\*\*)\s?[({]{0,2}\s?-?([0-9]{1,400})"
)
_FACTORIAL: Final = re.compile(r"[0-9]{5,}\s?[)}]?\s?!|\^[^!^]{1,12}[)}]\s?!|!\s?[)}\]]{0,3}\s?!")
_LARGEST_POWER: Final = 100_000
_LONGEST: Final = 400
"""Characters of an answer that algebra is asked about, unless the gold is long, too: MATH's longest is far shorter."""
_DEEPEST: Final = 40


@dataclasses.dataclass(frozen=True, slots=True)
class Equality:
    """Attributes:
    equal: whether the answer is right; None when that was not found out.
    detail: why not, when ``equal`` is None; perhaps how it was decided, otherwise.
    passing: whether another try may end otherwise, as after a time limit under load.
    """

    equal: bool | None
    detail: str = ""
    passing: bool = False


class MathEquality:
    """Compares answers. For one event loop, which it never blocks for longer than it takes to read them once.

    The processes are started when first needed.

    Args:
        limits: of one comparison by computer algebra; None for :data:`components.tasks.math_worker.LIMITS`.
        concurrency: comparisons at once; None for as many as there are cores.
    """

    def __init__(self, limits: Limits | None = None, concurrency: int | None = None) -> None:
        self._make: Callable[[], MathWorker] = lambda: MathWorker(limits, concurrency)
        self._worker: MathWorker | None = None

    async def equal(self, gold: str, found: Found) -> Equality:
        """Whether an answer, as :func:`components.tasks.answers.math_answer` found it, is the gold one.

        A missing or unreadable answer is wrong, and so is one so large that nobody can work it out, such as ``9^9^9``,
        where the gold is not. A comparison that ends by its limits, or by an error of computer algebra, is unknown.

        Raises:
            ServiceError: this machine has no sandbox, or lacks a package; nothing was compared.
        """
        if found.text is None and not found.context.strip():
            return Equality(False, "no answer")
        if found.text is not None:
            known = same(gold, found.text)
            if known is not None:
                return Equality(known)
            if len(found.text) > max(_LONGEST, 4 * len(gold)):
                return Equality(False, f"an answer of {len(found.text)} characters")
            if (size := excess(found.text)) and not excess(gold):
                return Equality(False, size)
        elif (size := excess(found.context)) and not excess(gold):
            return Equality(False, size)
        box = None if found.text is None else algebra(found.text)
        if found.place is Place.PHRASE and _reads_as_prose(found.context):
            box = None
        self._worker = self._worker or self._make()
        outcome = await self._worker.compare(algebra(gold), box, found.context)
        if isinstance(outcome, Failure):
            return Equality(None, f"{outcome.kind.value}: {outcome.detail}", outcome.kind in _PASSING)
        match outcome.value:
            case "equal":
                return Equality(True)
            case "different":
                return Equality(False)
            case "answer":
                return Equality(False, "the answer cannot be read as an expression")
            case "gold":
                return Equality(False, "the gold answer is no expression: compared as text")
        return Equality(None, f"bad_result: {outcome.value!r}"[:200])

    async def close(self) -> None:
        """End the processes."""
        if self._worker is not None:
            await self._worker.close()
            self._worker = None


def algebra(text: str) -> str:
    """An answer as computer algebra reads it best: a plain number as a fraction, else without units and percents."""
    if numbers := values(text):
        number = max(numbers, key=abs)
        return str(number)
    return plain(text).replace("\\%", "").replace("%", "")


def excess(text: str) -> str:
    """Why a text is too large to be worked out; empty when it is not.

    It looks for towers of powers, powers of numbers to more than a hundred thousand, factorials of large numbers or of
    factorials, and depth; whatever else takes too long is left to the limits.
    """
    for match in _TOWER.finditer(text):
        base, power, higher = (int(part[:20]) for part in match.groups())
        if base > 1 and power > 1 and (higher > 64 or power**higher > _LARGEST_POWER):
            return "a tower of powers"
    for match in _POWER.finditer(text):
        if len(match[1].lstrip("0")) > 6 or int(match[1]) > _LARGEST_POWER:
            return "a power of a number that cannot be worked out"
    if _FACTORIAL.search(text):
        return "a factorial that cannot be worked out"
    depth = 0
    for letter in text:
        if letter in "{([":
            depth += 1
            if depth > _DEEPEST:
                return f"brackets nested more than {_DEEPEST} deep"
        elif letter in "})]":
            depth = max(0, depth - 1)
    return ""


def _reads_as_prose(context: str) -> bool:
    return bool(re.search(r"(?<![\\A-Za-z])[A-Za-z]{3,}\s", context))
