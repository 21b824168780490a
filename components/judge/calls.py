"""What a protocol asks of a chat judge, and what it gets back; HTTP, caching and limits lie behind :class:`Ask`."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from components.judge.failures import Failure


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One question to a chat judge.

    Attributes:
        messages: the conversation; what many calls share stands first, so that a server's prefix cache carries it.
        max_tokens: longest reply, in tokens.
        temperature: 0 for the likeliest reply.
        top_logprobs: alternatives wanted for each token of the reply; 0 asks for no log-probabilities.
        schema: JSON schema that the reply is to obey, where the server can enforce one; a reply may break it.
        purpose: what it is for, in the ledger: ``ask``, ``again`` (only what was missing), ``single``.
        deadline: time on the monotonic clock at which to give up, waiting included; None follows the judge's limits.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    top_logprobs: int = 0
    schema: Mapping[str, Any] | None = None
    purpose: str = "ask"
    deadline: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerToken:
    """One token of a reply: its text, natural log-probability, and the likeliest alternatives (itself may be there)."""

    text: str
    log_prob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the server counted; 0 where it did not say."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


def nothing_kept() -> None:
    """A reply that is kept nowhere needs no forgetting."""


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A reply that came whole.

    Attributes:
        text: the reply without reasoning that the server returned apart from it.
        finish: why it ended: ``stop``, or ``length`` when ``max_tokens`` cut it.
        usage: tokens.
        tokens: the reply's tokens, if log-probabilities were asked for and given.
        attempts: calls made, 0 when it came from the cache.
        raw_id: SHA-256 of the reply's body, in hex.
        seconds: from the call to the whole reply, waiting for a permit included.
        served: of these, seconds of the calls that brought replies, once they had their permits; 0 from the cache.
        drop: forgets the reply, so that the same call is made anew the next time; for one from which nothing could be
            read.
    """

    text: str
    finish: Literal["stop", "length"]
    usage: Usage
    tokens: tuple[AnswerToken, ...] | None
    attempts: int
    raw_id: str
    seconds: float
    served: float = 0.0
    drop: Callable[[], None] = dataclasses.field(default=nothing_kept, repr=False, compare=False)


class Ask(Protocol):
    """Puts a call to the judge. A failure is returned, never raised."""

    async def __call__(self, call: Call) -> Answer | Failure: ...
