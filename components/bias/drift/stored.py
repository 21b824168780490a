"""Responses with what is known of them, from the tables that training, generation and scoring publish."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from components.bias.drift.table import Judged
from components.core.contracts import GENERATIONS, ROLLOUTS, SCORES, VERDICTS, read_table
from components.core.errors import ContractError


def heldout(generations: Path, model: str, *, scores: Path | None = None, verdicts: Path | None = None) -> list[Judged]:
    """The held-out responses of one model (one checkpoint).

    Args:
        generations: a table of the GENERATIONS contract.
        model: whose responses, as its column ``model`` names it.
        scores: a table of the SCORES contract; without it neither reward nor gold is known, nor asked for.
        verdicts: a table of the VERDICTS contract, for acceptance criterion by criterion.

    Raises:
        ContractError: a table breaks its contract, the model has no response, or a response has no score.
    """
    scored = _scores(scores, model)
    criteria = _criteria(verdicts)
    found = []
    for row in read_table(generations, GENERATIONS).to_pylist():
        if row["model"] != model:
            continue
        for index, text in enumerate(row["responses"]):
            score = scored.get((row["row_id"], index))
            if scores is not None and score is None:
                raise ContractError(
                    f"sample {index} of row {row['row_id']} of model {model!r} has no score",
                    where=f"{scores} against {generations}",
                    remedy="score these generations again",
                )
            found.append(
                Judged(
                    row_id=row["row_id"],
                    text=text,
                    tokens=row["response_tokens"][index],
                    finished=row["finished"][index],
                    **_judged(score),
                    criteria={} if score is None else criteria.get(score["sample_id"], {}),
                )
            )
    if not found:
        raise ContractError(f"no response of the model {model!r}", where=str(generations))
    return found


def rollouts(path: Path, scores: Path | None = None) -> dict[int, list[Judged]]:
    """Step -> its rollouts; where a resumed run did a step again, those of its last attempt.

    Args:
        path: a table of the ROLLOUTS contract.
        scores: rollouts by the SCORES contract, for gold; without it gold is unknown.

    Raises:
        ContractError: a table breaks its contract.
    """
    rows = read_table(path, ROLLOUTS).to_pylist()
    gold = {}
    if scores is not None:
        gold = {row["sample_id"]: row["gold"] for row in read_table(scores, SCORES).to_pylist()}
    last: dict[int, int] = {}
    for row in rows:
        last[row["step"]] = max(row["attempt"], last.get(row["step"], row["attempt"]))
    found: dict[int, list[Judged]] = {}
    for row in rows:
        if row["attempt"] != last[row["step"]]:
            continue
        checked = gold.get(row["sample_id"])
        found.setdefault(row["step"], []).append(
            Judged(
                row_id=row["row_id"],
                text=row["response"],
                tokens=row["response_tokens"],
                finished=row["finished"],
                abstained=row["status"] == "abstained",
                proxy=row["reward"],
                gold=None if checked is None else float(checked),
            )
        )
    return found


def _scores(path: Path | None, model: str) -> dict[tuple[str, int], Mapping[str, Any]]:
    if path is None:
        return {}
    rows = read_table(path, SCORES).to_pylist()
    return {(row["row_id"], row["sample_index"]): row for row in rows if row["model"] == model}


def _judged(score: Mapping[str, Any] | None) -> dict[str, Any]:
    if score is None:
        return {}
    return {
        "abstained": score["status"] == "abstained",
        "proxy": score["judge_reward"],
        "gold": None if score["gold"] is None else float(score["gold"]),
    }


def _criteria(path: Path | None) -> dict[str, dict[str, float | None]]:
    """Sample id -> criterion -> met; the newest verdict of each counts."""
    if path is None:
        return {}
    rows: Iterable[Mapping[str, Any]] = sorted(read_table(path, VERDICTS).to_pylist(), key=lambda row: row["time"])
    found: dict[str, dict[str, float | None]] = {}
    for row in rows:
        known = {"met": 1.0, "unmet": 0.0}.get(row["status"])
        found.setdefault(row["sample_id"], {})[row["criterion"]] = known
    return found
