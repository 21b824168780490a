"""The judges of a study as they were probed: what each was asked, and what it made of it."""

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.bias.outcomes import read_outcomes
from components.bias.panel_outcomes import OWN_WRITING
from components.bias.run import Plan
from components.bias.study_result import Skipped
from components.bias.types import Item, Mode, Outcome
from components.collect_study.found import NOT_REACHED, Files, Found
from components.study.probe_plan import plan_of
from components.study.scoring import label

if TYPE_CHECKING:
    from components.core.spec.arm import Arm
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.source import JudgeSource
    from components.core.spec.study_load import Study


@dataclasses.dataclass(frozen=True)
class Probed:
    """A judge, a panel's member, or a panel.

    Attributes:
        name: in tables; that of a judge or panel is also the name of the arms' judge.
        family: of its model; a panel has one where its members do.
        parameters: of its model; None of a panel.
        model: its model's name.
        source: where its model comes from; None of a panel.
        protocol: of the reward.
        plan: what it was to be asked.
        outcomes: what came of it; empty where it was not probed.
        member: whether it is a member of a panel, which trains nobody alone.
        members: of a panel, their names in tables.
    """

    name: str
    family: str
    parameters: float | None
    model: str
    source: "JudgeSource | None"
    protocol: str
    plan: Plan
    outcomes: Sequence[Outcome]
    member: bool = False
    members: tuple[str, ...] = ()

    @functools.cached_property
    def items(self) -> Mapping[tuple[str, str], Item]:
        """(probe, item id) -> the item."""
        return {(part.probe.name, item.item_id): item for part in self.plan.parts for item in part.items}


def all_probed(study: "Study", found: Found, files: Files) -> tuple[list[Probed], list[Skipped]]:
    """Every judge of the study, panels after their members; and what could not be probed with the reason.

    Raises:
        GavelError: a table is missing or breaks its contract.
    """
    told: list[Probed] = []
    skipped: list[Skipped] = []
    for scorer in study.scorers:
        name, record = label(study, scorer), found.probes.get(scorer.name)
        outcomes: list[Outcome] = []
        if record is None or record.error:
            why = NOT_REACHED if record is None else record.error
            skipped.append(Skipped(what=f"probes of judge {name}", reason=why, failed=record is not None))
        else:
            outcomes = read_outcomes(files.get(record, "outcomes", "outcomes.parquet"))
            for each in json.loads(files.get(record, "outcomes", "skipped.json").read_bytes()):
                mode = f" ({each['mode']})" if each["mode"] else ""
                panel = scorer.experiment.panel
                whose = name if panel is None or each["judge"] == panel.name else f"{each['judge']} in {name}"
                skipped.append(Skipped(what=f"probe {each['probe']}{mode} of judge {whose}", reason=each["reason"]))
        told += _of(study, scorer, name, outcomes)
    return told, skipped


def _of(study: "Study", scorer: "Arm", name: str, outcomes: Sequence[Outcome]) -> list[Probed]:
    experiment, panel = scorer.experiment, scorer.experiment.panel
    found = [
        _judge(study, scorer, judge, name if panel is None else f"{judge.name} in {name}", outcomes)
        for judge in experiment.judges()
    ]
    if panel is None:
        return found
    families = dict.fromkeys(each.family for each in found)
    parts = tuple(
        part for part in found[0].plan.parts if part.mode is Mode.BINARY and part.probe.name not in OWN_WRITING
    )
    whole = Probed(
        name=name,
        family=found[0].family if len(families) == 1 else f"panel of {', '.join(families)}",
        parameters=None,
        model=", ".join(each.model for each in found),
        source=None,
        protocol=experiment.reward.protocol,
        plan=Plan(parts, ()),
        outcomes=[outcome for outcome in outcomes if outcome.judge == panel.name],
        members=tuple(each.name for each in found),
    )
    return [*(dataclasses.replace(each, member=True) for each in found), whole]


def _judge(study: "Study", scorer: "Arm", judge: "JudgeSpec", name: str, outcomes: Sequence[Outcome]) -> Probed:
    return Probed(
        name=name,
        family=judge.family,
        parameters=judge.parameters,
        model=judge.model_name,
        source=judge.source,
        protocol=scorer.experiment.reward.protocol,
        plan=plan_of(study.spec.probes, judge, scorer.experiment, study.spec.seeds[0]),
        outcomes=[outcome for outcome in outcomes if outcome.judge == judge.name],
    )
