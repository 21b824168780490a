"""Decides the rule lines of rubrics, as a judge decides the others."""

import asyncio
import collections
import hashlib
import time
from typing import Final

from components.core.identity import canonical_json
from components.judge.flights import Flights
from components.judge.memory import Entry, Ledger
from components.judge.rule import Rule
from components.judge.verdict import Sample, UnknownReason, Verdict, VerdictStatus
from components.rules.finding import Finding
from components.rules.math_rule import MathRule
from components.rules.python_rule import PythonRule
from components.rules.task_rule import TaskRule
from components.rules.version import protocol
from components.rules.words import word_count_range
from components.sandbox.limits import Limits

JUDGE: Final = "rule"
"""The judge's name in verdicts by rules."""
_REMEMBERED: Final = 65536


class RuleChecker:
    """Checks samples against the rules in their rubrics. For one event loop.

    Equal checks are made once a process, also when they are under way at the same time; those that failed for want of
    time or memory are made again.

    Args:
        ledger: gets every verdict; None keeps none. The caller closes it.
        limits: of one call of a rule ``python``; None for :class:`components.sandbox.limits.Limits`' own.
        math_limits: of one check by ``math_verify``; None for :data:`components.tasks.math_worker.LIMITS`.
        concurrency: checks at once in processes; None for as many as there are cores.
        tasks: scores the answers of rule ``task``; None for one of its own.
    """

    def __init__(
        self,
        ledger: Ledger | None = None,
        *,
        limits: Limits | None = None,
        math_limits: Limits | None = None,
        concurrency: int | None = None,
        tasks: TaskRule | None = None,
    ) -> None:
        self._ledger = ledger
        self._limits = limits
        self._math_limits = math_limits
        self._concurrency = concurrency
        self._math: MathRule | None = None
        self._python: PythonRule | None = None
        self._tasks = tasks
        self._flights: Flights[bytes, Finding] = Flights()
        self._known: collections.OrderedDict[bytes, Finding] = collections.OrderedDict()

    async def check(self, sample: Sample) -> list[Verdict | None]:
        """One verdict a line of the rubric, in its order; None for lines that are the judge's.

        Raises:
            ServiceError: this machine has no sandbox, or lacks a package; nothing was judged.
            JudgeError: the ledger cannot be written.
        """
        begun = time.monotonic()
        rules = [(index, line.rule) for index, line in enumerate(sample.criteria) if line.rule is not None]
        found = await asyncio.gather(*(self._found(rule, sample) for _, rule in rules))
        seconds = time.monotonic() - begun
        verdicts: list[Verdict | None] = [None] * len(sample.criteria)
        for (index, rule), (finding, ran) in zip(rules, found, strict=True):
            verdicts[index] = _verdict(rule, finding, attempts=int(ran))
        self._record(sample, verdicts, seconds)
        return verdicts

    async def close(self) -> None:
        """End the processes. The ledger belongs to the caller."""
        for each in (self._math, self._python, self._tasks):
            if each is not None:
                await each.close()
        self._math = self._python = self._tasks = None

    async def _found(self, rule: Rule, sample: Sample) -> tuple[Finding, bool]:
        """The finding, and whether it was made now, for this sample."""
        asked = [rule.to_json_value(), sample.question if rule.name == "python" else None, sample.response]
        key = hashlib.sha256(canonical_json(asked).encode()).digest()
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known, False
        finding, first = await self._flights.run(key, lambda: self._look(rule, sample))
        if not finding.passing:
            self._known[key] = finding
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return finding, first

    async def _look(self, rule: Rule, sample: Sample) -> Finding:
        if rule.name == "word_count_range":
            return word_count_range(rule, sample.response)
        if rule.name == "math_verify":
            self._math = self._math or MathRule(self._math_limits, self._concurrency)
            return await self._math.check(rule, sample.response)
        if rule.name == "task":
            self._tasks = self._tasks or TaskRule(self._concurrency)
            return await self._tasks.check(rule, sample.response)
        self._python = self._python or PythonRule(self._limits, self._concurrency)
        return await self._python.check(rule, sample.question, sample.response)

    def _record(self, sample: Sample, verdicts: list[Verdict | None], seconds: float) -> None:
        if self._ledger is None:
            return
        entries, troubles = [], []
        for index, verdict in enumerate(verdicts):
            if verdict is not None:
                entries.append(Entry.of(sample, index, verdict, seconds=seconds, prompt_tokens=0))
                if verdict.explanation is not None:
                    troubles.append(f"line {index + 1}: {verdict.explanation}")
        detail = f"{JUDGE}, row {sample.row_id}, {'; '.join(troubles)}" if troubles else None
        self._ledger.add(entries, detail=detail)


def _verdict(rule: Rule, finding: Finding, *, attempts: int) -> Verdict:
    name = protocol(rule)
    if finding.met is None:
        unknown = VerdictStatus.UNKNOWN
        reason = UnknownReason.RULE_FAILED
        return Verdict(unknown, None, None, reason, JUDGE, name, attempts, explanation=finding.detail)
    status = VerdictStatus.MET if finding.met else VerdictStatus.UNMET
    return Verdict(status, finding.probability, None, None, JUDGE, name, attempts)
