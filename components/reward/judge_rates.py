"""How often the judge fails, by length of the response: the channel by which failures could teach a policy to be short.

A grader that fails on long answers is a bias of its own.
"""

import bisect
import dataclasses
from collections.abc import Iterable, Sequence

from components.judge.verdict import PARSE_REASONS, Verdict

DECILES = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """One sample as the judge treated it.

    Attributes:
        length: of the response, in tokens.
        abstained: whether it got no reward.
        verdicts: number of verdicts on it.
        unparsed: verdicts that are unknown since no reply could be read (:data:`PARSE_REASONS`).
        asked_again: verdicts that took more than one call, repeated or re-asked.
    """

    length: int
    abstained: bool
    verdicts: int
    unparsed: int
    asked_again: int

    @classmethod
    def of(cls, length: int, *, abstained: bool, verdicts: Iterable[Verdict]) -> "Judged":
        """Count the verdicts of one sample."""
        given = list(verdicts)
        return cls(
            length=length,
            abstained=abstained,
            verdicts=len(given),
            unparsed=sum(verdict.reason in PARSE_REASONS for verdict in given),
            asked_again=sum(verdict.attempts > 1 for verdict in given),
        )


def deciles(lengths: Sequence[int]) -> list[int]:
    """The decile, from 1 to 10, that each length falls into; equal lengths share the lowest that is theirs."""
    ordered = sorted(lengths)
    return [1 + DECILES * bisect.bisect_left(ordered, length) // len(ordered) for length in lengths]


def rates(samples: Sequence[Judged]) -> dict[str, float]:
    """Rates over all samples: ``abstain_rate`` of samples, ``parse_failure_rate`` and ``reask_rate`` of verdicts.

    A rate over nothing is left out.
    """
    found: dict[str, float] = {}
    if samples:
        found["abstain_rate"] = sum(sample.abstained for sample in samples) / len(samples)
    verdicts = sum(sample.verdicts for sample in samples)
    if verdicts:
        found["parse_failure_rate"] = sum(sample.unparsed for sample in samples) / verdicts
        found["reask_rate"] = sum(sample.asked_again for sample in samples) / verdicts
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
