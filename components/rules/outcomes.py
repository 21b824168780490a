"""A yes or no from the sandbox."""

from components.rules.finding import Finding
from components.sandbox.outcome import Failure, FailureKind, Outcome

_PASSING = frozenset({FailureKind.TIMEOUT, FailureKind.KILLED, FailureKind.MEMORY})


def finding(outcome: Outcome) -> Finding:
    """What a call's outcome says of the response: its value when that is True or False, or the number 1 or 0 for them.

    Functions that add or multiply yeses return 1 and 0, which Python holds equal to True and False. Nothing else
    is taken: None is the value of a function that forgot to return, and other numbers, texts and lists are counts and
    matches whose truth nobody has spelled out.
    """
    if isinstance(outcome, Failure):
        return Finding(None, f"{outcome.kind.value}: {outcome.detail}", outcome.kind in _PASSING)
    value = outcome.value
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return Finding(bool(value))
    return Finding(None, f"bad_result: neither True nor False: {value!r}"[:200])
