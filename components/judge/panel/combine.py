"""One verdict out of several on the same criterion."""

import collections
import math
from collections.abc import Sequence
from typing import Literal

from components.judge.verdict import PASSING, UnknownReason, Verdict, VerdictStatus

Combine = Literal["majority", "mean", "minimum"]


def combine(
    verdicts: Sequence[Verdict], rule: Combine, *, quorum: int, penalty: bool, judge: str, protocol: str
) -> Verdict:
    """The panel's verdict. Unknown members take no part; they are neither yes nor no.

    Args:
        verdicts: one a member.
        rule: ``majority`` (more than half of the known ones; no probability), ``mean`` (of the probabilities; a verdict
            without one counts as 1 or 0), or ``minimum`` (the verdict that gives the least reward).
        quorum: known verdicts that it takes, at least 1.
        penalty: whether the criterion has negative points, so that being met gives the least reward.
        judge: name of the panel.
        protocol: name and version of the panel's way.

    Returns:
        Met when more than one half speaks for it. Unknown below the quorum, with the members' most frequent reason, and
        when a majority is split evenly (``split``). Where a member whose trouble may pass would decide it, that trouble
        is the reason. Unknown, whatever the others say, once a member's budget is used up: a panel that goes on without
        it is another panel.
    """
    known = [verdict for verdict in verdicts if verdict.status is not VerdictStatus.UNKNOWN]
    # More than one means that somebody had to be asked again, as for a single judge.
    attempts = max((verdict.attempts for verdict in verdicts), default=0)

    def unknown(reason: UnknownReason) -> Verdict:
        return Verdict(VerdictStatus.UNKNOWN, None, None, reason, judge, protocol, attempts)

    if any(verdict.reason is UnknownReason.BUDGET for verdict in verdicts):
        return unknown(UnknownReason.BUDGET)
    passing = [verdict for verdict in verdicts if verdict.reason in PASSING]
    if len(known) < max(1, quorum):
        return unknown(_reason(passing if len(known) + len(passing) >= quorum else verdicts))
    probability: float | None = None
    if rule == "majority":
        share = sum(verdict.status is VerdictStatus.MET for verdict in known) / len(known)
        if share == 0.5:
            return unknown(_reason(passing) if passing else UnknownReason.SPLIT)
    else:
        chances = [_chance(verdict) for verdict in known]
        if rule == "mean":
            share = min(1.0, math.fsum(chances) / len(chances))
        else:
            share = max(chances) if penalty else min(chances)
        probability = share
    status = VerdictStatus.MET if share > 0.5 else VerdictStatus.UNMET
    return Verdict(status, probability, None, None, judge, protocol, attempts)


def _chance(verdict: Verdict) -> float:
    if verdict.probability is not None:
        return verdict.probability
    return 1.0 if verdict.status is VerdictStatus.MET else 0.0


def _reason(verdicts: Sequence[Verdict]) -> UnknownReason:
    """The most frequent reason; of equally frequent ones that of the earlier member."""
    reasons = collections.Counter(verdict.reason for verdict in verdicts if verdict.reason is not None)
    return reasons.most_common(1)[0][0] if reasons else UnknownReason.MISSING
