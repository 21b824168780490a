"""The figures of the step score-tasks, and answers side by side."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.core.contracts import GENERATIONS, TASK_SCORES, read_table
from components.core.errors import ContractError
from components.report.evidence import BASE, TRAINED
from components.tasks.results import COMPARISON, FILE, PLOT

SHOWN: Final = 2
"""Examples of each kind and domain."""


@dataclasses.dataclass(frozen=True, slots=True)
class Results:
    """What was measured on the test sets.

    Attributes:
        models: model -> the object of its ``results.json``.
        comparison: table -> metric -> the paired change from base to trained; empty where one model answered.
        plot: the drawing, an SVG file.
    """

    models: Mapping[str, Mapping[str, Any]]
    comparison: Mapping[str, Any]
    plot: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """The first answers of both models to one task."""

    dataset: str
    question: str
    base: str
    trained: str
    base_read: str
    trained_read: str


def read_results(scores: Path) -> Results:
    """What score-tasks published.

    Raises:
        ContractError: a file is missing or cannot be read.
    """
    try:
        models = {path.parent.name: json.loads(path.read_bytes()) for path in sorted(scores.glob(f"*/{FILE}"))}
        comparison = json.loads((scores / COMPARISON).read_bytes()) if {BASE, TRAINED} <= models.keys() else {}
        plot = (scores / PLOT).read_bytes()
    except (OSError, ValueError) as error:
        raise ContractError(f"figures of the test sets cannot be read: {error}", where=str(scores)) from error
    if TRAINED not in models:
        raise ContractError("no figures of the trained model", where=str(scores))
    return Results(models, comparison, plot)


def pick_examples(scores: Path, generations: Path) -> dict[str, list[Pair]]:
    """``gains`` and ``regressions``, a few of each domain, the first by id; empty where one model answered.

    Raises:
        ContractError: a table is missing or breaks its contract.
    """
    rows = read_table(scores / "scores.parquet", TASK_SCORES).to_pylist()
    first = {(row["model"], row["row_id"]): row for row in rows if row["sample_index"] == 0}
    said = {
        (row["model"], row["row_id"]): row
        for row in read_table(generations / "generations.parquet", GENERATIONS).to_pylist()
    }
    found: dict[str, list[Pair]] = {"gains": [], "regressions": []}
    taken: dict[tuple[str, str], int] = {}
    for model, row_id in sorted(first):
        if model != TRAINED or (BASE, row_id) not in first:
            continue
        before, after = first[BASE, row_id], first[TRAINED, row_id]
        kind = {(False, True): "gains", (True, False): "regressions"}.get((before["correct"], after["correct"]))
        if kind is None or taken.get((kind, after["domain"]), 0) >= SHOWN:
            continue
        taken[kind, after["domain"]] = taken.get((kind, after["domain"]), 0) + 1
        base, trained = said[BASE, row_id], said[TRAINED, row_id]
        texts = (trained["question"], base["responses"][0], trained["responses"][0])
        found[kind].append(Pair(after["dataset"], *texts, _read(before), _read(after)))
    return found


def _read(row: Mapping[str, Any]) -> str:
    return "nothing" if row["answer"] is None else row["answer"] or "no answer"


def metric_names(models: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    """Names of all metrics in the order in which they first occur; accuracy leads."""
    names = {"accuracy": None}
    for result in models.values():
        for entry in result["datasets"]:
            names |= dict.fromkeys(entry["metrics"])
    return list(names)
