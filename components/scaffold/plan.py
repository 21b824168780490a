"""The scaffold of one sample: how much, which criteria, and the message."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from components.judge.verdict import Criterion
from components.scaffold.message import scaffold_message
from components.scaffold.schedule import ratio
from components.scaffold.selection import shown

if TYPE_CHECKING:
    from components.core.spec.scaffold import ScaffoldSpec

SHOWN: Final = "gavel_scaffold"
"""Key under which a sampled response carries what it was shown: ``ratio``, and ``criteria`` with their places."""


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """What one sample is shown.

    Attributes:
        ratio: share of the rubric by the schedule, in [0, 1].
        criteria: places of the criteria in the rubric, from 0.
        message: the system message; None when nothing is shown.
    """

    ratio: float
    criteria: tuple[int, ...]
    message: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ScaffoldPlan:
    """The scaffolds of a whole run; a pure function of step, row and sample.

    Attributes:
        spec: the schedule.
        steps: training steps of the run.
        group: samples of one prompt.
        seed: of the experiment.
    """

    spec: "ScaffoldSpec"
    steps: int
    group: int
    seed: int

    def of(self, criteria: Sequence[Criterion], *, step: int, row_id: str, index: int) -> Shown:
        """What sample ``index`` (from 0) of row ``row_id`` is shown at ``step`` (from 1)."""
        share = ratio(self.spec, step=step, steps=self.steps, index=index, group=self.group)
        places = shown(self.spec, share, len(criteria), seed=self.seed, step=step, row_id=row_id, index=index)
        message = scaffold_message([criteria[place] for place in places], secret=self.spec.secret)
        return Shown(share, tuple(places), message)
