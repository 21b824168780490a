"""IFEval's four figures with their intervals, and the change between base and trained where both answered."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from components.core.errors import ContractError
from components.core.score_interval import constant_interval, tango_interval, wilson_interval
from components.core.statistics import SHARES, Floats, bootstrap_means, quantiles
from components.report.heldout import Sampling

if TYPE_CHECKING:
    from components.core.spec import Experiment

FIGURES = (
    ("Pr_S", "strict", "Prompts, strict"),
    ("Ins_S", "strict", "Instructions, strict"),
    ("Pr_L", "loose", "Prompts, loose"),
    ("Ins_L", "loose", "Instructions, loose"),
)
"""Name, the file that it rests on, and the name in words."""


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """A share of prompts or instructions.

    Attributes:
        value: the share.
        low: lower end of its interval; None with fewer than two prompts.
        high: its upper end.
        n: prompts, or instructions.
    """

    value: float
    low: float | None
    high: float | None
    n: int


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """Trained less base, on the same prompts; the interval resamples prompts in pairs."""

    gain: float
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class IFEval:
    """Figures by model and name, and changes by name where there are both models."""

    shares: Mapping[str, Mapping[str, Share]]
    changes: Mapping[str, Change]
    corrected: bool


def read_ifeval(experiment: "Experiment", inputs: Mapping[str, Path], sampling: Sampling) -> IFEval | None:
    """The figures of the folder ``ifeval``; None where the experiment asks for none.

    Raises:
        ContractError: it was asked for and not run, a file is missing or is not what the step ifeval writes, or the
            models answered other prompts.
    """
    if "ifeval" not in inputs:
        if experiment.evaluation.ifeval is not None:
            raise ContractError(
                "the experiment asks for IFEval, and the pipeline ran without it",
                where="evaluation.ifeval",
                remedy="start the pipeline with its parameter ifeval=true; finished steps are not repeated",
            )
        return None
    models = sorted(path.parent for path in inputs["ifeval"].glob("*/summary.json"))
    if not models:
        raise ContractError("there are no results of IFEval", where=str(inputs["ifeval"]))
    tables = {
        folder.name: {kind: _table(folder / f"eval_results_{kind}.jsonl") for kind in ("strict", "loose")}
        for folder in models
    }
    shares = {
        model: {name: _share(name, table[kind], sampling) for name, kind, _ in FIGURES}
        for model, table in tables.items()
    }
    changes = {}
    if {"base", "trained"} <= set(tables):
        for name, kind, _ in FIGURES:
            before, after = tables["base"][kind], tables["trained"][kind]
            if list(before) != list(after):
                raise ContractError("base and trained answered other prompts", where=str(inputs["ifeval"]))
            changes[name] = _change(name, before, after, sampling)
    corrected = json.loads((models[0] / "summary.json").read_text())["data"] == "corrected"
    return IFEval(shares, changes, corrected)


_Table = Mapping[str, Sequence[Sequence[bool]]]
"""Prompt -> for each response, what of its instructions it follows."""


def _table(path: Path) -> _Table:
    found: dict[str, list[list[bool]]] = {}
    try:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                row: dict[str, Any] = json.loads(line)
                found.setdefault(row["prompt"], []).append([bool(one) for one in row["follow_instruction_list"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ContractError(f"results of IFEval cannot be read: {error!r}", where=str(path)) from error
    return found


def _columns(name: str, table: _Table) -> Floats:
    """Shape (prompts, 2): what counts and out of how many, each a mean over the prompt's responses."""
    rows = []
    for responses in table.values():
        if name.startswith("Pr"):
            rows.append((np.mean([all(followed) for followed in responses]), 1.0))
        else:
            rows.append((np.mean([sum(followed) for followed in responses]), float(len(responses[0]))))
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _share(name: str, table: _Table, sampling: Sampling) -> Share:
    columns = _columns(name, table)
    total, out_of = columns.sum(axis=0)
    value, n = float(total / out_of), len(columns)
    if n < 2:
        return Share(value, None, None, int(out_of))
    if name.startswith("Pr") and all(len(responses) == 1 for responses in table.values()):
        return Share(value, *wilson_interval(int(total), n, sampling.confidence), n)
    # Instructions of one prompt are answered by one text, so whole prompts are resampled.
    draws = bootstrap_means(columns, resamples=sampling.resamples, seed=sampling.seed)
    ends = _ends(draws[:, 0] / draws[:, 1], n, sampling.confidence, SHARES)
    return Share(value, *ends, int(out_of))


def _change(name: str, base: _Table, trained: _Table, sampling: Sampling) -> Change:
    pairs = np.column_stack([_columns(name, base), _columns(name, trained)])
    total = pairs.sum(axis=0)
    gain = float(total[2] / total[3] - total[0] / total[1])
    if len(pairs) < 2:
        return Change(gain, None, None)
    if name.startswith("Pr") and np.isin(pairs, (0.0, 1.0)).all():
        rose, fell = int((pairs[:, 2] > pairs[:, 0]).sum()), int((pairs[:, 2] < pairs[:, 0]).sum())
        return Change(gain, *tango_interval(rose, fell, len(pairs), sampling.confidence))
    draws = bootstrap_means(pairs, resamples=sampling.resamples, seed=sampling.seed)
    gains = draws[:, 2] / draws[:, 3] - draws[:, 0] / draws[:, 1]
    return Change(gain, *_ends(gains, len(pairs), sampling.confidence, (-1.0, 1.0)))


def _ends(draws: Floats, n: int, confidence: float, scale: tuple[float, float]) -> tuple[float, float]:
    """The interval of draws; draws that are all equal say nothing about prompts that were not seen."""
    if draws.min() < draws.max():
        return quantiles(draws, confidence)
    return constant_interval(float(draws[0]), n, confidence, scale)
