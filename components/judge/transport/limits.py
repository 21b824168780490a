"""How hard a judge may be pressed, and how hard it is being pressed."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a whole run.

    Attributes:
        concurrency: calls under way at once, at all endpoints together.
        requests_per_minute: calls a minute for each key; None is no limit.
        tokens_per_minute: tokens a minute for each key; None is no limit.
        latency_target: seconds; a slower reply lowers the concurrency as a 429 does. None looks at refusals alone.
        sample_deadline: seconds for one call with all its repetitions and all waiting; None gives ``timeout`` times
            ``attempts`` from the first permit on, so that a long queue of our own fails nobody.
        share: part of the rates and of the concurrency that this run may use.
    """

    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    latency_target: float | None = None
    sample_deadline: float | None = None
    share: float = 1.0

    @property
    def permits(self) -> int:
        """Our part of the concurrency; at least one call."""
        return max(1, int(self.concurrency * self.share + 1e-9))

    def rate(self, per_minute: float | None) -> float | None:
        """Our part of a rate, a minute."""
        return None if per_minute is None else per_minute * self.share


@dataclasses.dataclass(frozen=True, slots=True)
class Stats:
    """What a transport is doing.

    Attributes:
        limit: calls that may be under way at once now.
        most: calls that may ever be under way at once.
        in_flight: calls under way.
        waiting: callers without a permit.
        breakers: ``closed``, ``open`` or ``half-open`` for each endpoint.
        keys_out: indices of the keys that were refused and are used no more.
        calls: calls that ended.
        throttled: those that ended with 429 or 503.
        down: those that could not be made, broke off or ended with another 5xx.
        slow: those that ran into the time limit.
    """

    limit: int
    most: int
    in_flight: int
    waiting: int
    breakers: tuple[str, ...]
    keys_out: tuple[int, ...]
    calls: int
    throttled: int
    down: int
    slow: int
