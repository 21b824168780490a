"""What a panel's members said, each by itself, and how far they agree."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.contracts import VERDICTS, read_table
from components.judge.panel.tally import Tally

if TYPE_CHECKING:
    from components.core.spec import Experiment


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One judge of the panel: its verdicts, and the share of met among the known ones (None without any)."""

    met: int
    unmet: int
    unknown: int
    acceptance: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class PanelAgreement:
    """A panel over one set of verdicts.

    Attributes:
        alpha: Krippendorff's alpha, nominal; None where it is not defined.
        units: criteria of samples that at least two members know.
        split: those on which members differ.
        members: by name, the experiment's judge first.
    """

    alpha: float | None
    units: int
    split: int
    members: Mapping[str, Member]


def read_panel(experiment: "Experiment", inputs: Mapping[str, Path]) -> dict[str, PanelAgreement]:
    """``training`` and ``evaluation`` -> agreement; empty for an experiment with one judge.

    Raises:
        ContractError: a table is missing or breaks its contract.
    """
    if experiment.panel is None:
        return {}
    names = [judge.name for judge in experiment.judges()]
    return {
        "training": _agreement(inputs["training"] / "verdicts.parquet", names),
        "evaluation": _agreement(inputs["scores"] / "verdicts.parquet", names),
    }


def _agreement(path: Path, names: list[str]) -> PanelAgreement:
    table = read_table(path, VERDICTS).select(["sample_id", "criterion_index", "judge", "status"])
    # Rows are in the order of writing: of a sample that was judged again, the newest verdict stays.
    units: dict[tuple[str, int], dict[str, str]] = {}
    for row in table.to_pylist():
        if row["judge"] in names:
            units.setdefault((row["sample_id"], row["criterion_index"]), {})[row["judge"]] = row["status"]
    tally = Tally()
    for statuses in units.values():
        tally.count(statuses)
    members = {
        name: Member(found.met, found.unmet, found.unknown, found.rate)
        for name in names
        if (found := tally.members.get(name)) is not None
    }
    return PanelAgreement(tally.alpha, tally.units, tally.split, members)
