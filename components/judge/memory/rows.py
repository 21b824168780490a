"""The rows of the ledger: one a verdict, one a call."""

import contextlib
import contextvars
import dataclasses
import time
from collections.abc import Iterator
from typing import Self

from components.judge.verdict import Sample, Verdict


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One verdict; the fields are the columns of the VERDICTS contract."""

    sample_id: str
    row_id: str
    criterion: str
    criterion_index: int
    status: str
    probability: float | None
    log_ratio: float | None
    reason: str | None
    judge: str
    protocol: str
    attempts: int
    seconds: float
    prompt_tokens: int
    response_chars: int
    raw_id: str | None
    time: float
    mass: float | None = None
    explanation: str | None = None

    @classmethod
    def of(cls, sample: Sample, index: int, verdict: Verdict, *, seconds: float, prompt_tokens: int) -> Self:
        """The row of one verdict on ``sample.criteria[index]``; ``seconds`` is the wall time of its calls."""
        return cls(
            sample_id=sample.sample_id,
            row_id=sample.row_id,
            criterion=sample.criteria[index].text,
            criterion_index=sample.index(index),
            status=verdict.status.value,
            probability=verdict.probability,
            log_ratio=verdict.log_ratio,
            reason=None if verdict.reason is None else verdict.reason.value,
            judge=verdict.judge,
            protocol=verdict.protocol,
            attempts=verdict.attempts,
            seconds=seconds,
            prompt_tokens=prompt_tokens,
            response_chars=len(sample.response),
            raw_id=verdict.raw_id,
            time=time.time(),
            mass=verdict.mass,
            explanation=verdict.explanation,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class CallRow:
    """One question put to a judge, with all its repetitions; what it decided is in the verdicts.

    Attributes:
        time: Unix time of the end.
        judge: name of the judge.
        protocol: name and version hash of the protocol.
        purpose: as in :class:`components.judge.calls.Call`.
        prompt_hash: SHA-256 of the body that was sent, in hex.
        attempts: HTTP calls made; 0 when the reply came from the cache or nothing was sent.
        seconds: from the question to the end of its last reply, waiting included.
        key: index of the API key, never the key; None when there is none or nothing was sent.
        endpoint: index of the endpoint; None when nothing was sent.
        prompt_tokens, completion_tokens, cached_tokens: what the server counted for this question now; all 0 when the
            reply came from our cache, which nobody bills. ``cached_tokens`` is the part of the prompt that the server
            had in its own cache.
        cost: by the price table, in ``currency``; None when there is no price.
        currency: ISO 4217 code; None exactly when ``cost`` is.
        finish: ``stop`` or ``length``; None when no whole reply came.
        reason: value of the UnknownReason; None when a whole reply came.
        from_cache: whether our cache answered.
        reply_chars: length of the judge's reply.
        raw_id: SHA-256 of the reply's body, in hex.
        sample_id: the sample that it is about; None takes it from :func:`about`.
        response_chars: length of the *response under judgement*; None takes it from :func:`about`.
    """

    time: float
    judge: str
    protocol: str
    purpose: str
    prompt_hash: str
    attempts: int
    seconds: float
    key: int | None = None
    endpoint: int | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    currency: str | None = None
    finish: str | None = None
    reason: str | None = None
    from_cache: bool = False
    reply_chars: int = 0
    raw_id: str | None = None
    sample_id: str | None = None
    response_chars: int | None = None


_about: contextvars.ContextVar[tuple[str, int] | None] = contextvars.ContextVar("about", default=None)


@contextlib.contextmanager
def about(sample: Sample) -> Iterator[None]:
    """Calls that are recorded inside, also in tasks made inside, are about ``sample``.

    A call knows its messages and not whose they are; this tells the ledger without a field in every signature.
    """
    token = _about.set((sample.sample_id, len(sample.response)))
    try:
        yield
    finally:
        _about.reset(token)


def subject() -> tuple[str, int] | None:
    """(sample id, characters of its response) of the innermost :func:`about`."""
    return _about.get()
