"""Judging many samples at once, and picking up what an earlier process had judged."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from components.judge.memory import Entry
from components.judge.verdict import PASSING, Sample, UnknownReason, Verdict, VerdictStatus
from components.reward.judgement import RULE, Judgement
from components.reward.rewarder import Rewarder

FINAL_REASONS = frozenset(UnknownReason) - PASSING - {UnknownReason.REJECTED, UnknownReason.BUDGET}
"""The judge's last word on a sample: it refused, could not tell, answered what nobody can read, or a panel is split.
Asking once more would cost as much and give the same. A rejected call (wrong key, wrong route) and a used-up budget are
none of them: a person mends those."""


async def judge_samples(
    rewarder: Rewarder,
    samples: Sequence[Sample],
    *,
    concurrency: int,
    done: Callable[[Sample, Judgement], None],
) -> bool:
    """Judge every sample, at most ``concurrency`` at a time, and close the rewarder.

    Once the budget is used up no further sample is begun, and those under way are judged to their end.

    Args:
        rewarder: is closed at the end, also after an error.
        samples: what to judge.
        concurrency: samples under way at once.
        done: called with each sample's judgement, except those that the budget did not allow for; what it raises ends
            the work.

    Returns:
        Whether the budget allowed for all samples.
    """
    pending = iter(samples)
    paid = True

    async def work() -> None:
        nonlocal paid
        for sample in pending:
            judgement = await rewarder.reward(sample)
            if judgement.unpaid:
                paid = False
            else:
                done(sample, judgement)
            if not paid:
                return

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(samples)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await rewarder.close()
    return paid


def latest(entries: Iterable[Entry]) -> dict[str, dict[int, Entry]]:
    """The newest entry of each sample and criterion: sample id -> criterion index -> entry."""
    found: dict[str, dict[int, Entry]] = {}
    for entry in entries:
        found.setdefault(entry.sample_id, {})[entry.criterion_index] = entry
    return found


def known_verdicts(sample: Sample, entries: Mapping[int, Entry]) -> list[Verdict] | None:
    """The verdicts of an earlier process, of judge and rules; None when one is missing, was given by the other of the
    two, or is unknown for a reason that may have passed.

    Args:
        sample: with the whole rubric.
        entries: of the deciding judge and of rules, by the index of the line in that rubric.
    """
    if set(entries) != set(range(len(sample.criteria))):
        return None
    lines = enumerate(sample.criteria)
    if any((entries[index].judge == RULE) != (criterion.verifier == "rule") for index, criterion in lines):
        return None
    verdicts = [_verdict(entries[index]) for index in range(len(sample.criteria))]
    if any(entries[index].criterion != criterion.text for index, criterion in enumerate(sample.criteria)):
        return None
    if any(verdict.reason is not None and verdict.reason not in FINAL_REASONS for verdict in verdicts):
        return None
    return verdicts


def _verdict(entry: Entry) -> Verdict:
    return Verdict(
        status=VerdictStatus(entry.status),
        probability=entry.probability,
        log_ratio=entry.log_ratio,
        reason=None if entry.reason is None else UnknownReason(entry.reason),
        judge=entry.judge,
        protocol=entry.protocol,
        attempts=entry.attempts,
        raw_id=entry.raw_id,
    )
