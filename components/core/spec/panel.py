"""The panel: further judges beside the experiment's own, asked about the same samples."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import Conflict, Label, Spec
from components.core.spec.judge import JudgeSpec
from components.core.spec.reward import RewardSpec


class PanelSpec(Spec):
    """Judges that decide together with ``judge``, which is a member itself."""

    name: Label = "panel"
    """Name of the combined verdicts; no judge's. Unit: none. Default: "panel"."""
    members: Annotated[tuple[JudgeSpec, ...], Field(min_length=1, max_length=15)]
    """The further judges: names in configs/judges, or mappings. Unit: none. Required."""
    combine: Literal["majority", "mean", "minimum"] = "mean"
    """How verdicts become one: by more than half of the known ones, by the mean of the probabilities, or by the verdict
    that gives the least reward. Unit: none. Default: "mean"."""
    quorum: Annotated[int, Field(ge=1)] = 2
    """Judges that must know a criterion; with fewer it stays unknown. Unit: judges. Default: 2."""


def panel_conflicts(judge: JudgeSpec, reward: RewardSpec, panel: PanelSpec) -> Iterable[Conflict]:
    """What a panel cannot be beside this judge and this reward; keys start at the experiment."""
    names = [judge.name, *(member.name for member in panel.members)]
    for number, name in enumerate(names[1:]):
        if name in names[: number + 1]:
            yield Conflict(
                f"panel.members.{number}",
                f"judge {name} is a member already; the experiment's judge is one by itself",
                "name another judge, or give this one another name",
            )
    if panel.name in names:
        yield Conflict("panel.name", f"{panel.name!r} is a judge's name", "give the panel a name of its own")
    if panel.quorum > len(names):
        yield Conflict(
            "panel.quorum", f"{panel.quorum} of {len(names)} judges can never be reached", f"use at most {len(names)}"
        )
    if panel.combine == "majority" and reward.value == "probability":
        yield Conflict(
            "reward.value",
            "probability, but panel.combine majority decides yes or no and gives none",
            "set reward.value: binary, or panel.combine: mean",
        )


def members_of(judge: JudgeSpec, panel: PanelSpec | None) -> Sequence[JudgeSpec]:
    """Every judge of an experiment, its own first."""
    return (judge, *(panel.members if panel is not None else ()))
