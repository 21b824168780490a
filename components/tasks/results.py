"""The files of figures on test sets: their names, the names of metrics in words, and the figures as a table."""

from collections.abc import Mapping
from typing import Any, Final

from components.core.columns import aligned

FILE: Final = "results.json"
"""One a model. ``datasets`` is a list with ``dataset`` and ``metrics`` of each table, as readers of the former system
take them: ``jq '.datasets[] | {name: .dataset, accuracy: .metrics.accuracy}'``."""
COMPARISON: Final = "comparison.json"
COMPARISONS: Final = "comparisons.json"
"""Where there are further models, such as baselines of workflows: name -> the object of ``comparison.json`` with that
model in the place of base."""
PLOT: Final = "results.svg"
SCHEMA: Final = "gavel.tasks/1"

LABELS: Final[Mapping[str, str]] = {
    "accuracy": "Accuracy",
    "f1": "F1",
    "has_ans_accuracy": "HasAns exact",
    "has_ans_f1": "HasAns F1",
    "no_ans_accuracy": "NoAns exact",
    "supporting_exact": "Facts exact",
    "supporting_f1": "Facts F1",
    "joint_exact": "Joint exact",
    "joint_f1": "Joint F1",
    "macro": "Mean of the sets",
    "weighted_4_3_3": "Mean 4:3:3 of the domains",
}
"""Name -> in words; ``pass@k`` stands for itself."""


def table(result: Mapping[str, Any]) -> str:
    """The figures of one model: a row a table and metric, with n and interval; an unknown figure is a word."""
    rows = [("set", "metric", "n", "value", f"{100 * result['confidence']:g} % interval")]
    for entry in result["datasets"]:
        name = entry["dataset"] + ("" if entry["comparable"] else " (not comparable)")
        unknown = f" (+{entry['unknown']} unknown)" if entry["unknown"] else ""
        for metric, value in entry["metrics"].items():
            n = f"{entry['counts'][metric]}{unknown if metric == 'accuracy' else ''}"
            rows.append((name, metric, n, _share(value), _interval(entry["intervals"][metric])))
            name = ""
    for metric, mean in result["means"].items():
        rows.append(
            (metric, "accuracy", f"{len(mean['sets'])} sets", _share(mean["value"]), _interval(mean["interval"]))
        )
    return "\n".join(aligned(rows))


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"


def _interval(ends: tuple[float, float] | None) -> str:
    return "none" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f} %"
