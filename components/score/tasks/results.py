"""The file of scores: one JSON line a row, and a last one with the summary."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.core.errors import ConfigError, StorageError
from components.score.tasks.lines import Prediction
from components.tasks.score import TaskScore
from components.tasks.sets import domain
from components.tasks.statistics import Sampling, measure, results

SAMPLING: Final = Sampling(2000, 0.95, 0)
_FACTS: Final = {
    "sp_em": "supporting_exact",
    "sp_f1": "supporting_f1",
    "joint_em": "joint_exact",
    "joint_f1": "joint_f1",
}
_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "squad2": {
        "exact": "accuracy",
        "f1": "f1",
        "HasAns_exact": "has_ans_accuracy",
        "HasAns_f1": "has_ans_f1",
        "NoAns_exact": "no_ans_accuracy",
        "NoAns_f1": "no_ans_accuracy",
    },
    "hotpotqa": {"em": "accuracy", "f1": "f1", **_FACTS},
}
"""The official scripts' names for our metrics. Of a question without an answer F1 is exact match."""

Scored = Sequence[tuple[Prediction, Sequence[TaskScore]]]


def rows(dataset: str, scored: Scored) -> list[dict[str, Any]]:
    """One object an answer; an unknown score is null, and ``reason`` says why."""
    counts: dict[str | int, int] = {}
    several = {line.id for line, scores in scored if len(scores) > 1}
    found = []
    for line, scores in scored:
        for score in scores:
            sample = counts[line.id] = counts.get(line.id, -1) + 1
            row: dict[str, Any] = {"id": line.id}
            if sample or line.id in several:
                row["sample"] = sample
            row.update(_fields(dataset, score))
            if score.correct is None:
                row["reason"] = score.detail
            found.append(row)
    return found


def summary(dataset: str, scored: Scored, ks: Sequence[int], sampling: Sampling = SAMPLING) -> dict[str, Any]:
    """Means over the rows with a known score: in [0, 1], in percent, and with bootstrap intervals."""
    table, golds, counts = [], {}, dict[str, int]()
    for line, scores in scored:
        key = json.dumps(line.id)
        golds[key] = line.gold
        for score in scores:
            index = counts[key] = counts.get(key, -1) + 1
            parts = {name: getattr(score, name) for name in _FACTS.values() if getattr(score, name) is not None}
            columns = {"correct": score.correct, "exact": score.exact, "f1": score.f1, "parts": json.dumps(parts)}
            table.append({"row_id": key, "sample_index": index, **columns})
    measured = {dataset: measure(dataset, table, golds, ks)}
    entry = results("", measured, sampling, comparable=True, samples={dataset: len(table)})["datasets"][0]
    metrics: Mapping[str, float | None] = entry["metrics"]
    names = _NAMES.get("squad2" if dataset == "custom_qa" else dataset) or {name: name for name in metrics}
    own = {name: metrics[metric] for name, metric in names.items() if metric in metrics}
    return {
        "dataset": dataset,
        "n": entry["n"],
        "unknown": entry["unknown"],
        "samples": len(table),
        **own,
        "percent": {name: None if value is None else round(100 * value, 2) for name, value in own.items()},
        "intervals": {name: entry["intervals"][metric] for name, metric in names.items() if metric in metrics},
        "confidence": sampling.confidence,
        "metrics": metrics,
    }


def check_writable(path: Path) -> None:
    """Find out before anything is scored that the file cannot be written.

    Its folder is made where it is missing and the one above it is there: a whole missing path is a mistyped one.

    Raises:
        ConfigError: the path is a folder, or leads nowhere.
        StorageError: nothing can be written there.
    """
    path = path.resolve()
    if path.is_dir():
        raise ConfigError("--output is a folder", where=str(path), remedy="name a file")
    if path.exists() and not path.is_file():
        return
    folder = path.parent
    if not folder.is_dir() and not folder.parent.is_dir():
        raise ConfigError(
            f"there is no folder {folder.parent}", where=str(path), remedy="correct the path, or make the folder"
        )
    try:
        folder.mkdir(exist_ok=True)
        # As it is written: beside the file, so that an earlier one stays until the new one is whole.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise StorageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def write(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write JSON lines, all or none.

    Raises:
        StorageError: the file cannot be written.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        # A device or a pipe is written to, never replaced by a file.
        try:
            with path.open("w", encoding="utf-8") as stream:
                stream.writelines(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        except OSError as error:
            raise StorageError(f"cannot be written: {error.strerror}", where=str(path)) from error
        return
    try:
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise StorageError(f"cannot be written: {error.strerror}", where=str(path)) from error
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, allow_nan=False) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise StorageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def _fields(dataset: str, score: TaskScore) -> dict[str, Any]:
    if domain(dataset) != "qa":
        return {"correct": score.correct}
    exact = None if score.exact is None else int(score.exact)
    if dataset != "hotpotqa":
        return {"exact": exact, "f1": score.f1}
    facts = {name: getattr(score, field) for name, field in _FACTS.items()}
    asked = {name: int(value) if name.endswith("_em") else value for name, value in facts.items() if value is not None}
    return {"em": exact, "f1": score.f1, **asked}
