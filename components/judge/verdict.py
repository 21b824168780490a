"""What a judge is asked and what it answers: criterion, sample, verdict."""

import dataclasses
import enum
import math
from collections.abc import Sequence

from components.judge.rule import Rule


class VerdictStatus(enum.StrEnum):
    """Three values, because a judge that could not answer has not said no."""

    MET = "met"
    UNMET = "unmet"
    UNKNOWN = "unknown"


class UnknownReason(enum.StrEnum):
    """Why a verdict is unknown."""

    TIMEOUT = "timeout"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSEABLE = "unparseable"
    LOW_MASS = "low_mass"
    JUDGE_DOWN = "judge_down"
    REJECTED = "rejected"
    EMPTY_RESPONSE = "empty_response"
    TOO_LONG = "too_long"
    STREAM_ERROR = "stream_error"
    """An error object inside a stream that began with status 200."""
    STREAM_CUT = "stream_cut"
    """The stream ended before its end marker."""
    NO_FINISH = "no_finish"
    """A whole reply that does not say why it ended."""
    EMPTY_REPLY = "empty_reply"
    MISSING = "missing"
    """The reply is readable and leaves this criterion out, also when asked for it alone."""
    CONTRADICTORY = "contradictory"
    """The reply decides this criterion in two ways."""
    UNDECIDED = "undecided"
    """The judge answered that it cannot tell."""
    BUDGET = "budget"
    """The run's limit of calls, tokens or cost was reached before this call."""
    SPLIT = "split"
    """As many members of a panel are for it as against it."""
    RULE_FAILED = "rule_failed"
    """A check by code crashed, ran out of its limits, or gave no yes or no."""


PARSE_REASONS = frozenset(
    {
        UnknownReason.UNPARSEABLE,
        UnknownReason.CONTRADICTORY,
        UnknownReason.MISSING,
        UnknownReason.TRUNCATED,
        UnknownReason.EMPTY_REPLY,
    }
)
"""A reply came, and nothing could be read from it for the criterion, also after asking again."""


PASSING = frozenset(
    {
        UnknownReason.TIMEOUT,
        UnknownReason.JUDGE_DOWN,
        UnknownReason.STREAM_ERROR,
        UnknownReason.STREAM_CUT,
        UnknownReason.NO_FINISH,
        UnknownReason.EMPTY_REPLY,
    }
)
"""Troubles of server and network: the same question may be answered later. All other reasons are the judge's last word
on a sample, except ``rejected`` and ``budget``, which a person has to mend."""


@dataclasses.dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric.

    Attributes:
        text: what the response is to do, as the judge reads it.
        points: weight; negative for a penalty that applies when the criterion is met. A line that code decides may have
            0: its verdict is recorded and counts for no reward.
        verifier: ``llm`` (asked of the judge) or ``rule`` (checked by code).
        tags: free labels, such as ``axis:accuracy``.
        rule: the check by code; given exactly when ``verifier`` is ``rule``.
    """

    text: str
    points: float = 1.0
    verifier: str = "llm"
    tags: tuple[str, ...] = ()
    rule: Rule | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("a criterion needs a text")
        if (self.verifier == "rule") != (self.rule is not None):
            raise ValueError(f"criterion {self.text!r}: verifier rule and a rule go together")
        if (self.points == 0 and self.rule is None) or not math.isfinite(self.points):
            raise ValueError(f"criterion {self.text!r}: points must be finite and not zero, got {self.points}")

    @property
    def line(self) -> tuple[str, str, Rule | None]:
        """What two lines of a rubric share when one of them is a repetition: text (but for spaces) and who decides."""
        return " ".join(self.text.split()), self.verifier, self.rule


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """One response under judgement.

    Attributes:
        row_id: stable id of the prompt's row.
        sample_id: id of this response, unique in the run.
        question: the user's request as plain text.
        response: the response as plain text.
        criteria: the rubric's lines that this judge is to decide.
        places: their indices in the row's rubric, under which the ledger keeps the verdicts; None when they are all of
            its lines.
    """

    row_id: str
    sample_id: str
    question: str
    response: str
    criteria: tuple[Criterion, ...]
    places: tuple[int, ...] | None = None

    def part(self, places: Sequence[int]) -> "Sample":
        """The same response with some lines of the whole rubric alone."""
        if len(places) == len(self.criteria):
            return self
        criteria = tuple(self.criteria[place] for place in places)
        return dataclasses.replace(self, criteria=criteria, places=tuple(places))

    def index(self, line: int) -> int:
        """The index in the row's rubric of ``criteria[line]``."""
        return line if self.places is None else self.places[line]


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer on one criterion of one sample.

    Attributes:
        status: met, unmet or unknown.
        probability: of the criterion being met, in [0, 1]; None when unknown or when the protocol gives none.
        log_ratio: natural log of the likelihood ratio, for that protocol; else None.
        reason: why the verdict is unknown; None exactly when it is known.
        judge: name of the judge.
        protocol: name and version hash of the protocol and its prompt templates.
        attempts: calls made for it, at least 0.
        raw_id: id of the raw reply in the ledger, if one came.
        mass: probability that the judge gave to yes and no together, for protocols that read it; also when it is too
            low for a verdict.
        explanation: the judge's own words for it, where the protocol asks for them.
    """

    status: VerdictStatus
    probability: float | None
    log_ratio: float | None
    reason: UnknownReason | None
    judge: str
    protocol: str
    attempts: int
    raw_id: str | None = None
    mass: float | None = None
    explanation: str | None = None

    def __post_init__(self) -> None:
        known = self.status is not VerdictStatus.UNKNOWN
        if known and self.reason is not None:
            raise ValueError("a known verdict has no reason for being unknown")
        if not known and (self.reason is None or self.probability is not None or self.log_ratio is not None):
            raise ValueError("an unknown verdict has a reason and no probability")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability {self.probability} is outside [0, 1]")
