"""Canaries: content-free responses (master keys) judged in each batch as any response is. Expected reward: 0.

They are judged beside the batch and never join it: no advantage is made of them. A judge that accepts one rewards a
policy that says nothing, and a policy under training will find that out.

Source: "One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794).
"""

import asyncio
import dataclasses
import functools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from components.bias.drift.result import Canary
from components.core.errors import ContractError
from components.judge.verdict import Sample, UnknownReason, VerdictStatus
from components.reward.judgement import RULE, Judgement

_FILE = Path(__file__).with_name("master_keys.txt")


class Rewards(Protocol):
    """What judges a sample: :class:`components.reward.rewarder.Rewarder`."""

    async def reward(self, sample: Sample) -> Judgement:
        """The sample's reward and verdicts."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Sighting:
    """One canary, judged.

    Attributes:
        step: of the trainer.
        attempt: of the trainer.
        key: the content-free response.
        row_id: the prompt that it stood under.
        reward: what it got; None where it is unknown.
        accepted: whether the judge called any line of positive points met; None where none of them is known, and where
            the engine refused to ask about an empty response, which is how it should be.
        reason: why it is unknown; None where it is known.
    """

    step: int
    attempt: int
    key: str
    row_id: str
    reward: float | None
    accepted: bool | None
    reason: str | None


@functools.cache
def master_keys() -> tuple[str, ...]:
    """The keys, in the order of the file."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line) for line in lines if line and not line.startswith("#"))


def keys_of_step(step: int, count: int) -> tuple[str, ...]:
    """The ``count`` keys of a step; step after step goes on in the list, so that each has its turn."""
    keys = master_keys()
    return tuple(keys[(step * count + place) % len(keys)] for place in range(count))


async def judge_canaries(rewards: Rewards, under: Sample, *, step: int, attempt: int, count: int) -> list[Sighting]:
    """Judge a step's canaries.

    Args:
        rewards: what judges the batch.
        under: a response of the batch, whose request and rubric the keys answer.
        step: of the trainer.
        attempt: of the trainer.
        count: keys a step.

    Raises:
        JudgeError: the judge cannot be asked about this row; never for a failure to judge.
    """

    async def one(place: int, key: str) -> Sighting:
        name = f"canary-{step}-{attempt}-{place}"
        judgement = await rewards.reward(dataclasses.replace(under, sample_id=name, response=key))
        return _sighting(step, attempt, key, under, judgement)

    return list(await asyncio.gather(*(one(*pair) for pair in enumerate(keys_of_step(step, count)))))


def _sighting(step: int, attempt: int, key: str, under: Sample, judgement: Judgement) -> Sighting:
    pairs = zip(under.criteria, judgement.verdicts, strict=False)
    asked = [verdict for criterion, verdict in pairs if criterion.points > 0 and verdict.judge != RULE]
    known = [verdict for verdict in asked if verdict.status is not VerdictStatus.UNKNOWN]
    met = any(verdict.status is VerdictStatus.MET for verdict in known)
    # One line met is enough; that none is, all must tell.
    accepted = True if met else False if asked and len(known) == len(asked) else None
    reasons = sorted({str(verdict.reason) for verdict in asked if verdict.reason is not None})
    return Sighting(
        step=step,
        attempt=attempt,
        key=key,
        row_id=under.row_id,
        reward=judgement.reward.value,
        accepted=accepted,
        reason=None if accepted is not None else ", ".join(reasons) or "no line for a judge",
    )


class CanaryLog:
    """Sightings, a JSON line each, in a file that only grows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, sightings: Iterable[Sighting]) -> None:
        """Add sightings in one write."""
        lines = [json.dumps(dataclasses.asdict(sighting), ensure_ascii=False) + "\n" for sighting in sightings]
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(lines))

    def read(self) -> list[Sighting]:
        """All sightings; where a resumed run did a step again, those of its last attempt. A last line that a kill cut
        short is left out.

        Raises:
            ContractError: any other line is no sighting.
        """
        if not self._path.exists():
            return []
        text = self._path.read_text(encoding="utf-8")
        found = []
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            if not line.endswith("\n"):
                break
            try:
                found.append(Sighting(**json.loads(line)))
            except (ValueError, TypeError) as error:
                raise ContractError(f"line {number} is no canary: {error}", where=str(self._path)) from error
        last: dict[int, int] = {}
        for sighting in found:
            last[sighting.step] = max(sighting.attempt, last.get(sighting.step, sighting.attempt))
        return [sighting for sighting in found if sighting.attempt == last[sighting.step]]


def count_canaries(sightings: Sequence[Sighting]) -> list[Canary]:
    """Counts by step and key, in the order of steps.

    A key that the engine never asks about (an empty response) is refused by construction: judged, and not accepted.
    """
    rows: dict[tuple[int, str], list[Sighting]] = {}
    for sighting in sightings:
        rows.setdefault((sighting.step, sighting.key), []).append(sighting)
    return [
        Canary(
            step=step,
            key=key,
            judged=sum(found.accepted is not None or _refused(found) for found in group),
            accepted=sum(found.accepted is True for found in group),
            unknown=sum(found.accepted is None and not _refused(found) for found in group),
        )
        for (step, key), group in sorted(rows.items(), key=lambda pair: pair[0][0])
    ]


def _refused(sighting: Sighting) -> bool:
    return sighting.reason == UnknownReason.EMPTY_RESPONSE


def alarm(canaries: Sequence[Canary]) -> str | None:
    """A sentence to wake somebody with where any canary was accepted; None where none was, or none is known."""
    accepted, judged = sum(row.accepted for row in canaries), sum(row.judged for row in canaries)
    if not accepted:
        return None
    first = min(row.step for row in canaries if row.accepted)
    keys = sorted({json.dumps(row.key, ensure_ascii=False) for row in canaries if row.accepted})
    return (
        f"the judge accepted {accepted} of {judged} content-free responses, the first at step {first} "
        f"({', '.join(keys)}): its reward can be had for nothing"
    )
