"""What a chat protocol is: it puts questions about a sample to a judge and says what it made of the answers."""

import dataclasses
import hashlib
from typing import Protocol as Interface

from components.judge.calls import Ask
from components.judge.failures import Failure
from components.judge.parsing import reply as parsing
from components.judge.protocols import quotation
from components.judge.verdict import Sample, UnknownReason, VerdictStatus


class SampleError(Exception):
    """A sample that the protocol cannot ask about, whatever the judge.

    Args:
        what: what is wrong with it.
        remedy: what the user can do.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


@dataclasses.dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge made of one criterion.

    Attributes:
        status: met, unmet or unknown.
        reason: why it is unknown; None exactly when it is known.
        probability: of the criterion being met, where the protocol gives one.
        mass: probability of yes and no together, where the protocol reads it.
        explanation: the judge's own words.
        attempts: calls made for it.
        raw_id: SHA-256 of the reply that decided it.
        trouble: what went wrong, for the ledger; None when it is known.
    """

    status: VerdictStatus
    reason: UnknownReason | None = None
    probability: float | None = None
    mass: float | None = None
    explanation: str | None = None
    attempts: int = 0
    raw_id: str | None = None
    trouble: Failure | None = None

    @classmethod
    def failed(cls, failure: Failure, attempts: int = 0) -> "Opinion":
        """Unknown, because a call failed; ``attempts``: calls that were made for it before."""
        raw = None if failure.body is None else hashlib.sha256(failure.body).hexdigest()
        calls = attempts + failure.attempts
        return cls(VerdictStatus.UNKNOWN, failure.reason, attempts=calls, raw_id=raw, trouble=failure)


class ChatProtocol(Interface):
    """How a judge is asked, and how its answers become verdicts. Holds no state about samples.

    Attributes:
        version: its name, a slash, and 12 hex digits over everything that decides what a verdict means.
    """

    version: str

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """One opinion a criterion, in order. A judge's failure is an unknown opinion, never an exception.

        Raises:
            SampleError: the sample is nothing that the protocol can ask about; nothing was asked.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    """How the judge writes its replies.

    Attributes:
        max_tokens: longest reply, reasoning included.
        temperature: 0 for the likeliest reply.
    """

    max_tokens: int
    temperature: float = 0.0


def version_of(name: str, number: int, *parts: object) -> str:
    """The version of a protocol.

    Args:
        name: of the protocol.
        number: raised when its module comes to mean something else.
        parts: digests of its templates, and its settings.
    """
    shared = f"parser {parsing.VERSION}, quotation {quotation.VERSION}"
    content = "\n".join([name, str(number), shared, *(repr(part) for part in parts)])
    return f"{name}/{hashlib.sha256(content.encode()).hexdigest()[:12]}"
