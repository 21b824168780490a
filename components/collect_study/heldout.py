"""Held-out responses of all arms with gold and what each judge of the study made of them."""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from components.bias.decisions import Decision
from components.collect_study.found import Files, Found
from components.core.contracts import GENERATIONS, SCORES, VERDICTS, read_table
from components.study.looks import AFTER, BEFORE
from components.study.records import Record
from components.study.scoring import label, scored_by

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.study_load import Study


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """One held-out response under one judge.

    Attributes:
        decision: what the judge made of it, and gold; its cluster is the prompt.
        trained: whether the policy was trained when it wrote it.
        trainer: the judge that trained the policy; empty for a control that no judge trained.
    """

    decision: Decision
    trained: bool
    trainer: str


def heldout_decisions(study: "Study", found: Found, files: Files) -> dict[str, list[Held]]:
    """Judge -> the responses with gold that it scored; a text that several arms gave to a prompt counts once.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    told: dict[str, dict[tuple[str, str, bool, str], Held]] = defaultdict(dict)
    for arm in study.arms:
        record = found.arms.get(arm.name)
        if record is None or record.error:
            continue
        texts = _texts(files.get(record, "generations", "generations.parquet"))
        trainer = label(study, arm) if arm.judged else ""
        for scorer in study.scorers:
            scored = _scored(study, arm, scorer, found)
            if scored is None:
                continue
            name = scored_by(arm, scorer).verdict_name
            probabilities = stated(files.get(scored, "scores", "verdicts.parquet"), name)
            for row in read_table(files.get(scored, "scores", "scores.parquet"), SCORES).to_pylist():
                text = texts.get((row["model"], row["row_id"], row["sample_index"]))
                if text is None or row["gold"] is None or row["model"] not in (BEFORE, AFTER):
                    continue
                trained = row["model"] == AFTER
                # The base policy is one and the same in all arms; whoever trains it later has no part in it.
                key = (row["row_id"], text, trained, trainer if trained else "")
                decision = Decision(
                    row["row_id"], bool(row["gold"]), row["judge_reward"], probabilities.get(row["sample_id"])
                )
                told[label(study, scorer)].setdefault(key, Held(decision, trained, key[3]))
    return {judge: list(rows.values()) for judge, rows in told.items()}


def _scored(study: "Study", arm: "Arm", scorer: "Arm", found: Found) -> Record | None:
    """Where the judge's scores of the arm's responses lie: in its crossing, or, of its own arms, in the arm's."""
    crossed = found.crosses.get((arm.name, scorer.name))
    if crossed is not None:
        return crossed
    # A control's held-out responses are judged by the judge that it names.
    own = label(study, arm) == label(study, scorer)
    record = found.arms[arm.name]
    return record if own and "scores" in record.results else None


def _texts(generations: Path) -> dict[tuple[str, str, int], str]:
    return {
        (row["model"], row["row_id"], index): text
        for row in read_table(generations, GENERATIONS).to_pylist()
        for index, text in enumerate(row["responses"])
    }


def stated(verdicts: Path, judge: str) -> Mapping[str, float]:
    """Sample -> mean probability that the judge states of its criteria; a sample with a criterion that has none is left
    out.

    Args:
        verdicts: a table of the VERDICTS contract; the newest verdict of each criterion counts.
        judge: name under which the verdicts stand that make the reward; those of rules and of a panel's members have
            other names.

    Raises:
        ContractError: the table breaks its contract.
    """
    newest: dict[str, dict[int, float | None]] = defaultdict(dict)
    for row in sorted(read_table(verdicts, VERDICTS).to_pylist(), key=lambda each: each["time"]):
        if row["judge"] == judge:
            newest[row["sample_id"]][row["criterion_index"]] = row["probability"]
    found = {}
    for sample, by_criterion in newest.items():
        known = [value for value in by_criterion.values() if value is not None]
        if len(known) == len(by_criterion):
            found[sample] = sum(known) / len(known)
    return found
