"""The API keys of a judge, each with its own rates and rests. A key is named by its index, never by itself."""

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from components.judge.backoff import full_jitter
from components.judge.transport.limits import Limits

_STORM = 3
"""Round-trips with nothing but refusals after which a key rests also where the server does not ask for it."""
_LONGEST_REST = 2.0
"""Seconds of such a rest: also how late the end of a storm may be noticed."""


class Rate(Protocol):
    """What a key takes its calls and tokens from."""

    def wait(self, cost: float, now: float) -> float: ...

    def take(self, cost: float, now: float) -> None: ...


MakeRate = Callable[[str, float], Rate]
"""Makes the rate of a name and a limit a minute."""


class Key:
    """One key.

    Args:
        index: its place.
        secret: the bearer token; None where the judge wants none.
        requests: rate of calls, or None.
        tokens: rate of tokens, or None.
        dice: spreads rests.
    """

    def __init__(
        self, index: int, secret: str | None, requests: Rate | None, tokens: Rate | None, dice: random.Random
    ) -> None:
        self.index = index
        self.secret = secret
        self.in_flight = 0
        self.calls = 0
        self.out = False
        self._requests = requests
        self._tokens = tokens
        self._dice = dice
        self._rests_until = float("-inf")
        self._refused = float("-inf")
        self._refusals = 0

    def rest(self, now: float) -> float:
        """Seconds for which the server wants no calls with it."""
        return max(0.0, self._rests_until - now)

    def wait(self, tokens: int, now: float) -> float:
        """Seconds until a call that may take ``tokens`` can be made with it; 0 if it can now."""
        wait = self.rest(now)
        if self._requests is not None:
            wait = max(wait, self._requests.wait(1.0, now))
        if self._tokens is not None and tokens:
            wait = max(wait, self._tokens.wait(tokens, now))
        return wait

    def enter(self, tokens: int, now: float) -> None:
        """A call is made with it."""
        self.in_flight += 1
        self.calls += 1
        if self._requests is not None:
            self._requests.take(1.0, now)
        if self._tokens is not None and tokens:
            self._tokens.take(tokens, now)

    def give_back(self, requests: float, tokens: float, now: float) -> None:
        """Put back what was charged and not used; negative takes more."""
        if self._requests is not None and requests:
            self._requests.take(-requests, now)
        if self._tokens is not None and tokens:
            self._tokens.take(-tokens, now)

    def good(self) -> None:
        """A reply came."""
        self._refusals = 0

    def throttled(self, began: float, now: float, asked: float | None) -> None:
        """A call that began at ``began`` was refused for now; ``asked``: seconds that the server wants to be left."""
        if began >= self._refused:
            self._refusals += 1
            self._refused = now
            if asked is None and self._refusals >= _STORM:
                asked = min(_LONGEST_REST, full_jitter(self._refusals - _STORM, self._dice))
        if asked is not None:
            self._rests_until = max(self._rests_until, now + asked)


def make_keys(secrets: Sequence[str], limits: Limits, make_rate: MakeRate, dice: random.Random) -> list[Key]:
    """A key for each secret; one without a secret where there is none."""
    requests, tokens = limits.rate(limits.requests_per_minute), limits.rate(limits.tokens_per_minute)
    return [
        Key(
            index,
            secret,
            None if requests is None else make_rate(f"requests-{index}", requests),
            None if tokens is None else make_rate(f"tokens-{index}", tokens),
            dice,
        )
        for index, secret in enumerate(list(secrets) or [None])
    ]
