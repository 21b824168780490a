"""Figures of a training for KFP's table of metrics."""

from collections.abc import Mapping

from components.core.contracts import METRICS, read_table
from components.core.progress import Progress
from components.core.step.results import open_sources
from components.core.store import Store

_SHOWN = (
    "critic/score/mean",
    "critic/rewards/mean",
    "actor/kl_loss",
    "actor/entropy",
    "actor/pg_loss",
    "actor/grad_norm",
    "response_length/mean",
)
"""verl's own names of what tells how a training went."""
_FILE = "metrics.parquet"


def end_points(rows: Mapping[tuple[int, str], float]) -> dict[str, float]:
    """The first and the last value of each shown metric, as ``first_actor_kl_loss`` and ``last_actor_kl_loss``.

    Args:
        rows: value by step and verl's name; names that are not there are left out.
    """
    found = {}
    for name in _SHOWN:
        steps = sorted(step for step, known in rows if known == name)
        if steps:
            key = name.replace("/", "_")
            found[f"first_{key}"] = rows[steps[0], name]
            found[f"last_{key}"] = rows[steps[-1], name]
    return found


def training_figures(uri: str) -> dict[str, float]:
    """The figures of a published training.

    Raises:
        StorageError: its metrics cannot be read.
        ContractError: they are not what they should be.
    """
    import tempfile
    from pathlib import Path

    head, _, key = uri.rpartition("/")
    source = open_sources(Store.open(head), {"training": f"{head}/{key}"})["training"]
    with tempfile.TemporaryDirectory() as folder:
        table = read_table(source.fetch(Path(folder), Progress("train-grpo"), (_FILE,)) / _FILE, METRICS)
    return end_points({(row["step"], row["name"]): row["value"] for row in table.to_pylist()})
