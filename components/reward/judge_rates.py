"""How often the judge fails, by length of the response: the channel by which failures could teach a policy to be short.

A grader that fails on long answers is a bias of its own.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from components.judge.memory.deciles import DECILES, deciles
from components.judge.verdict import PARSE_REASONS, UnknownReason, Verdict
from components.reward.asked import Asked
from components.reward.judgement import RULE


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """One sample as the judge treated it.

    Attributes:
        length: of the response, in tokens.
        abstained: whether it got no reward.
        verdicts: number of the judge's verdicts on it.
        unparsed: verdicts that are unknown since no reply could be read (:data:`PARSE_REASONS`).
        asked_again: whether it was asked again for what an earlier reply had left open.
        repeated: whether a call about it was made more than once, since server or network failed.
        empty: whether it abstained since there was nothing to judge, for which the judge is not to blame.
        checks: number of verdicts that rules gave.
        checks_failed: those that are unknown since the rule failed.
    """

    length: int
    abstained: bool
    verdicts: int
    unparsed: int
    asked_again: bool
    repeated: bool
    empty: bool = False
    checks: int = 0
    checks_failed: int = 0

    @classmethod
    def of(cls, length: int, *, abstained: bool, verdicts: Iterable[Verdict], asked: Asked | None = None) -> "Judged":
        """Count the verdicts of one sample.

        Args:
            length: of the response, in tokens.
            abstained: whether there is no reward.
            verdicts: of the judge or the panel, and of rules.
            asked: what the ledger says about its questions; None for a judge whose calls are not on record, which asks
                one question a sample, so that what goes beyond one call is a repetition.
        """
        everything = list(verdicts)
        given = [verdict for verdict in everything if verdict.judge != RULE]
        if asked is None:
            asked = Asked(repeated=max((verdict.attempts for verdict in given), default=0) - 1)
        return cls(
            length=length,
            abstained=abstained,
            verdicts=len(given),
            unparsed=sum(verdict.reason in PARSE_REASONS for verdict in given),
            asked_again=asked.again > 0,
            repeated=asked.repeated > 0,
            empty=abstained and any(verdict.reason is UnknownReason.EMPTY_RESPONSE for verdict in given),
            checks=len(everything) - len(given),
            checks_failed=sum(verdict.reason is UnknownReason.RULE_FAILED for verdict in everything),
        )


def rates(samples: Sequence[Judged]) -> dict[str, float]:
    """Rates over all samples: ``abstain_rate``, ``empty_rate``, ``reask_rate`` and ``retry_rate`` of samples,
    ``parse_failure_rate`` of the judge's verdicts and ``rule_failure_rate`` of those of rules.

    Empty responses abstain and count in ``abstain_rate`` too.

    A sample counts in ``reask_rate`` when the judge was asked again for what its reply had left open, and in
    ``retry_rate`` when a call was made again since server or network failed. A rate over nothing is left out.
    """
    found: dict[str, float] = {}
    if samples:
        found["abstain_rate"] = sum(sample.abstained for sample in samples) / len(samples)
        found["empty_rate"] = sum(sample.empty for sample in samples) / len(samples)
        found["reask_rate"] = sum(sample.asked_again for sample in samples) / len(samples)
        found["retry_rate"] = sum(sample.repeated for sample in samples) / len(samples)
    verdicts = sum(sample.verdicts for sample in samples)
    if verdicts:
        found["parse_failure_rate"] = sum(sample.unparsed for sample in samples) / verdicts
    checks = sum(sample.checks for sample in samples)
    if checks:
        found["rule_failure_rate"] = sum(sample.checks_failed for sample in samples) / checks
    return found


def rates_by_decile(samples: Sequence[Judged]) -> dict[str, float]:
    """The same rates as ``RATE/length_decile_01`` to ``_10``, with ``response_tokens/length_decile_NN``, the longest
    response of the decile. A decile without samples is left out."""
    places = deciles([sample.length for sample in samples])
    found: dict[str, float] = {}
    for decile in range(1, DECILES + 1):
        members = [sample for sample, place in zip(samples, places, strict=True) if place == decile]
        if members:
            own = rates(members) | {"response_tokens": float(max(sample.length for sample in members))}
            found |= {f"{name}/length_decile_{decile:02d}": value for name, value in own.items()}
    return found
