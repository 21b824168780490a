"""What the judge was asked and what the rules checked, from the tables of calls and of verdicts."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from components.core.contracts import CALLS, VERDICTS, read_table

RULE: Final = "rule"
"""Who gave a verdict by a rule, in the tables; see :data:`components.rules.checker.JUDGE`."""


@dataclasses.dataclass(frozen=True, slots=True)
class JudgeCalls:
    """A step's verdicts and its calls of the judge, in counts.

    One call can give the verdicts on all lines of a rubric, and a rule takes none: so calls, tokens and time of the
    judge come from the table of calls, and only verdicts from that of verdicts.

    Attributes:
        verdicts: rows, repeated ones and those of rules included.
        unknown: reason -> rows.
        calls: questions that went to the judge.
        cached: questions that an earlier answer settled, without a call.
        attempts: HTTP requests of the calls; more than the calls where some were repeated.
        prompt_tokens: tokens that the judge read.
        completion_tokens: tokens that it wrote.
        seconds: summed wall time of the calls; they overlap, so the clock ran less.
        judges: names of the judges whose verdicts they are.
        protocols: names of the judges' protocols.
        rule_checks: verdicts by rules.
        rule_seconds: summed wall time of the samples' checks by rules; these overlap as well.
    """

    verdicts: int
    unknown: Mapping[str, int]
    calls: int
    cached: int
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    judges: tuple[str, ...]
    protocols: tuple[str, ...]
    rule_checks: int
    rule_seconds: float


def read_calls(folder: Path) -> JudgeCalls:
    """From ``verdicts.parquet`` and ``calls.parquet`` of a step's folder.

    Raises:
        ContractError: a table is missing or breaks its contract.
    """
    columns = ["sample_id", "judge", "protocol", "status", "reason", "seconds"]
    verdicts = read_table(folder / "verdicts.parquet", VERDICTS).select(columns).to_pylist()
    calls = read_table(folder / "calls.parquet", CALLS)
    attempts = calls.column("attempts").to_pylist()
    unknown = Counter(row["reason"] or "no reason given" for row in verdicts if row["status"] == "unknown")
    judged = [row for row in verdicts if row["judge"] != RULE]
    # A sample's rules are checked together, and each of its verdicts has the time of all of them.
    checks = {(row["sample_id"], row["seconds"]) for row in verdicts if row["judge"] == RULE}
    return JudgeCalls(
        verdicts=len(verdicts),
        unknown=dict(sorted(unknown.items())),
        calls=sum(number > 0 for number in attempts),
        cached=sum(calls.column("from_cache").to_pylist()),
        attempts=sum(attempts),
        prompt_tokens=sum(calls.column("prompt_tokens").to_pylist()),
        completion_tokens=sum(calls.column("completion_tokens").to_pylist()),
        seconds=math.fsum(calls.column("seconds").to_pylist()),
        judges=tuple(sorted({row["judge"] for row in judged})),
        protocols=tuple(sorted({row["protocol"] for row in judged})),
        rule_checks=len(verdicts) - len(judged),
        rule_seconds=math.fsum(seconds for _, seconds in checks),
    )
