"""What a scoring found, in figures: a prompt counts by the mean over its samples, a model by the mean over prompts."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from components.core.contracts import PROMPTS, read_table
from components.core.spec.reward import CONTROLS

if TYPE_CHECKING:
    from components.core.spec import Experiment

Row = Mapping[str, Any]
"""Of the SCORES contract."""

ORIGINS = ("policy", "checkpoint", "responses", "constraints")
"""What a summary may say, beside the step's own part, of where the figures are from."""
_SHORT = 12
MEASURES = ("judge_reward", "gold", "echo", "words")


def sources_of(path: Path) -> dict[str, str]:
    """By row id, the name of the data that a prompt of the table is from."""
    table = read_table(path, PROMPTS)
    ids = [info["id"] for info in table.column("extra_info").to_pylist()]
    return dict(zip(ids, table.column("data_source").to_pylist(), strict=True))


def summarise(experiment: "Experiment", rows: Sequence[Row], sources: Mapping[str, str]) -> dict[str, Any]:
    """Figures by model, over all prompts and by data source; a mean over nothing is None.

    Args:
        experiment: whose judge and reward the scores are.
        rows: the scores.
        sources: by row id, the name of the data that the prompt is from.

    Returns:
        ``experiment``, ``judge``, ``reward``, what the reward is made of (``combine``, ``scored_as``, ``protocol``,
        ``value``) and ``models``. ``scored_as`` is rubric for a control arm, else the same as ``combine``. A model has
        ``samples``, ``prompts``, ``abstained``, each measure with ``mean``, ``standard_error`` over prompts (None for
        fewer than two) and ``n`` prompts, and ``test_score`` by data source, which is the mean judge's reward.
    """
    models: dict[str, Any] = {}
    for model in sorted({row["model"] for row in rows}):
        mine = [row for row in rows if row["model"] == model]
        models[model] = {
            "samples": len(mine),
            "prompts": len({row["row_id"] for row in mine}),
            "abstained": sum(row["status"] == "abstained" for row in mine),
            **{measure: _over_prompts(mine, measure) for measure in MEASURES},
            "test_score": {
                source: _over_prompts([row for row in mine if sources[row["row_id"]] == source], "judge_reward")["mean"]
                for source in sorted({sources[row["row_id"]] for row in mine})
            },
        }
    reward = experiment.reward
    return {
        "experiment": experiment.name,
        "judge": experiment.verdict_name,
        "reward": reward.name,
        "combine": reward.combine,
        "scored_as": "rubric" if reward.combine in CONTROLS else reward.combine,
        "protocol": reward.protocol,
        "value": reward.value,
        "models": models,
    }


def table(summary: Mapping[str, Any]) -> str:
    """The figures for a terminal, under what they are figures of."""
    scored = summary["scored_as"]
    combine = summary["combine"] if scored == summary["combine"] else f"{summary['combine']}, SCORED AS {scored}"
    lines = [
        f"judge {summary['judge']}, reward {summary['reward']} (combine {combine}; protocol {summary['protocol']}; "
        f"value {summary['value']})",
        *(f"{key.replace('_', ' ')}: {_origin(summary[key])}" for key in ORIGINS if summary.get(key) is not None),
        "mean over prompts ± standard error (n prompts)",
        "",
        f"{'model':10} {'samples':>8} {'abstained':>10}  " + "".join(f"{name:26}" for name in MEASURES).rstrip(),
    ]
    for model, found in summary["models"].items():
        cells = "".join(f"{_cell(found[name]):26}" for name in MEASURES).rstrip()
        lines.append(f"{model:10} {found['samples']:8} {found['abstained']:10}  {cells}")
    lines.append("")
    for model, found in summary["models"].items():
        lines += [
            f"test_score/{source} {'unknown' if value is None else f'{value:.4f}'} ({model})"
            for source, value in found["test_score"].items()
        ]
    return "\n".join(lines)


def _origin(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    sha256 = f" (sha256 {str(value['sha256'])[:_SHORT]})" if value.get("sha256") else ""
    return f"{value.get('path') or value.get('name')}{sha256}"


def _cell(found: Mapping[str, Any]) -> str:
    if found["mean"] is None:
        return "unknown"
    error = "" if found["standard_error"] is None else f" ± {found['standard_error']:.3f}"
    return f"{found['mean']:.3f}{error} ({found['n']})"


def _over_prompts(rows: Sequence[Row], measure: str) -> dict[str, Any]:
    prompts: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if (known := row[measure]) is not None:
            prompts[row["row_id"]].append(float(known))
    means = [fmean(values) for values in prompts.values()]
    return {
        "mean": fmean(means) if means else None,
        "standard_error": stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None,
        "n": len(means),
    }
