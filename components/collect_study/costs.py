"""What judging took in each part of a study, and how often it gave no verdict."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from components.bias.drift.table import estimate
from components.bias.outcomes import read_outcomes
from components.bias.study_result import Abstained, Cost
from components.collect_study.found import Files, Found
from components.core.contracts import CALLS, ROLLOUTS, SCORES, read_table
from components.core.statistics import SHARES
from components.study.scoring import label

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

_CALLS: Final = "calls.parquet"


def costs(found: Found, files: Files) -> list[Cost]:
    """Calls of every part, summed by judge.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    tables: list[tuple[str, str, Path]] = []
    for record in found.probes.values():
        if not record.error:
            tables.append(("probes", "", files.get(record, "outcomes", _CALLS)))
    for name, record in found.arms.items():
        parts = (("training", "training"), ("scores", "held-out"), ("drift_scores", "drift"))
        for step, part in parts:
            if step in record.results:
                tables.append((part, name, files.get(record, step, _CALLS)))
    for (name, _), record in found.crosses.items():
        tables.append(("cross-judge", name, files.get(record, "scores", _CALLS)))
    sums: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for part, arm, path in tables:
        for row in read_table(path, CALLS).to_pylist():
            sums[part, arm, row["judge"]].append(row)
    return [_cost(part, arm, judge, rows) for (part, arm, judge), rows in sums.items()]


def _cost(part: str, arm: str, judge: str, rows: Iterable[dict[str, Any]]) -> Cost:
    rows = list(rows)
    paid = [row for row in rows if not row["from_cache"]]
    money: dict[str, float] = defaultdict(float)
    for row in paid:
        if row["cost"] is not None and row["currency"]:
            money[row["currency"]] += row["cost"]
    return Cost(
        part=part,
        arm=arm,
        judge=judge,
        calls=len(rows),
        cached=len(rows) - len(paid),
        requests=sum(row["attempts"] for row in paid),
        prompt_tokens=sum(row["prompt_tokens"] for row in paid),
        completion_tokens=sum(row["completion_tokens"] for row in paid),
        seconds=sum(row["seconds"] for row in paid),
        money=dict(money),
    )


def abstentions(study: "Study", found: Found, files: Files, confidence: float) -> list[Abstained]:
    """The share of judgements without a value, in every part.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    told = []
    for scorer in study.scorers:
        record = found.probes.get(scorer.name)
        if record is not None and not record.error:
            outcomes = read_outcomes(files.get(record, "outcomes", "outcomes.parquet"))
            rows = [(each.reason, f"{each.probe} {each.text_id}") for each in outcomes]
            told.append(_share("probes", "", label(study, scorer), rows, confidence))
    for arm in study.arms:
        record = found.arms.get(arm.name)
        if record is None or record.error:
            continue
        judge = label(study, arm)
        if arm.judged:
            table = read_table(files.get(record, "training", "rollouts.parquet"), ROLLOUTS).to_pylist()
            rows = [(_reason(row["status"], row["reason"]), row["row_id"]) for row in table]
            told.append(_share("training", arm.name, judge, rows, confidence))
        table = read_table(files.get(record, "scores", "scores.parquet"), SCORES).to_pylist()
        rows = [(_reason(row["status"], "no reward"), row["row_id"]) for row in table]
        told.append(_share("held-out", arm.name, judge, rows, confidence))
    return told


def _reason(status: str, reason: str | None) -> str | None:
    return (reason or "unknown") if status == "abstained" else None


def _share(part: str, arm: str, judge: str, rows: list[tuple[str | None, str]], confidence: float) -> Abstained:
    values = [float(reason is not None) for reason, _ in rows]
    share = estimate(values, [cluster for _, cluster in rows], confidence, scale=SHARES)
    reasons = Counter(reason for reason, _ in rows if reason is not None)
    return Abstained(part=part, arm=arm, judge=judge, share=share, reasons=dict(reasons))
