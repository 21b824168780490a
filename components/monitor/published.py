"""The responses of a published training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from components.core.contracts import ROLLOUTS, WORKFLOWS, read_table
from components.monitor.samples import Origins, Sample, sample_of
from components.workflow.log_name import TABLE as WORKFLOWS_TABLE

ROLLOUTS_TABLE: Final = "rollouts.parquet"


def read_published(folder: Path, origins: Origins) -> list[Sample]:
    """The responses of a published training.

    Raises:
        ContractError: a table breaks its contract.
    """
    workflows: Mapping[str, Mapping[str, Any]] = {}
    if (folder / WORKFLOWS_TABLE).is_file():
        rows = read_table(folder / WORKFLOWS_TABLE, WORKFLOWS).to_pylist()
        workflows = {row["sample_id"]: row for row in rows}
    table = read_table(folder / ROLLOUTS_TABLE, ROLLOUTS).drop_columns(["question", "response"])
    return [sample_of(row, origins, workflows.get(row["sample_id"])) for row in table.to_pylist()]
