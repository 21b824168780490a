"""Judge against gold on the same training responses, where both have a line."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.core.contracts import VERDICTS, read_table
from components.report.calls import RULE
from components.report.tasks.rollouts import Rollout

TASK: Final = f"{RULE}/task/"
"""Beginning of the protocol of verdicts by gold."""


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts of judge and gold on the same responses, each yes or no.

    Attributes:
        n: responses on which both know.
        both: both say right.
        judge_only: the judge says right, gold wrong: what a policy can learn to exploit.
        gold_only: gold says right, the judge wrong.
        neither: both say wrong.
        judge_unknown: responses on which only gold knows.
        gold_unknown: responses on which only the judge knows.
    """

    n: int
    both: int
    judge_only: int
    gold_only: int
    neither: int
    judge_unknown: int
    gold_unknown: int

    @property
    def agree(self) -> float | None:
        """Share of the responses on which they say the same."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (Cohen 1960); None where chance alone would always agree."""
        if not self.n:
            return None
        judge, gold = (self.both + self.judge_only) / self.n, (self.both + self.gold_only) / self.n
        chance = judge * gold + (1 - judge) * (1 - gold)
        observed = (self.both + self.neither) / self.n
        return None if chance == 1.0 else (observed - chance) / (1 - chance)


def read_agreement(training: Path, rollouts: Sequence[Rollout], judge: str) -> dict[str, Agreement]:
    """``all`` and each domain with responses that have lines of both; empty where there are none.

    Args:
        training: folder that train-grpo published.
        rollouts: the responses.
        judge: whose verdicts count, that of a panel and not its members'.

    Raises:
        ContractError: the table of verdicts is missing or breaks its contract.
    """
    columns = ["sample_id", "criterion_index", "judge", "protocol", "status", "time"]
    rows = read_table(training / "verdicts.parquet", VERDICTS).select(columns).to_pylist()
    gold = _by_sample([row for row in rows if row["protocol"].startswith(TASK)])
    judged = _by_sample([row for row in rows if row["judge"] == judge])
    pairs: dict[str, list[tuple[bool | None, bool | None]]] = {}
    for rollout in rollouts:
        if rollout.sample_id in gold and rollout.sample_id in judged:
            pair = judged[rollout.sample_id], gold[rollout.sample_id]
            for name in ("all", rollout.domain):
                pairs.setdefault(name, []).append(pair)
    return {name: compare(found) for name, found in sorted(pairs.items())}


def compare(pairs: Sequence[tuple[bool | None, bool | None]]) -> Agreement:
    """Count pairs of (judge, gold); None is unknown."""
    known = [pair for pair in pairs if None not in pair]
    return Agreement(
        n=len(known),
        both=known.count((True, True)),
        judge_only=known.count((True, False)),
        gold_only=known.count((False, True)),
        neither=known.count((False, False)),
        judge_unknown=sum(judge is None and gold is not None for judge, gold in pairs),
        gold_unknown=sum(gold is None and judge is not None for judge, gold in pairs),
    )


def _by_sample(rows: Sequence[Mapping[str, Any]]) -> dict[str, bool | None]:
    """The newest verdict on each sample; a known one before an unknown one."""
    found: dict[str, tuple[tuple[bool, float], bool | None]] = {}
    for row in rows:
        value = {"met": True, "unmet": False}.get(row["status"])
        rank = (value is not None, row["time"])
        before = found.get(row["sample_id"])
        if before is None or rank >= before[0]:
            found[row["sample_id"]] = (rank, value)
    return {sample: value for sample, (_, value) in found.items()}
