"""In which words a task is put to the policy: as it is, or as a problem that a workflow is to be written for."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.tasks.gold import parse_gold

if TYPE_CHECKING:
    from components.core.spec import Experiment

Turn = Callable[[str, str], str]
"""From a problem's text and the text of its gold to the user's turn."""
PLAIN: Final = Path(__file__).parent / "prompts"


@dataclasses.dataclass(frozen=True, slots=True)
class Wording:
    """Attributes:
    folder: of the templates, a text file a data set, that problems are rendered by.
    turn: makes the user's turn of a problem; None where the problem is the turn.
    version: of what ``turn`` puts around the problem; None without it.
    """

    folder: Path = PLAIN
    turn: Turn | None = None
    version: str | None = None


def wording_of(experiment: "Experiment") -> Wording:
    """How an experiment's tasks are put."""
    if experiment.workflow is None:
        return Wording()
    from components.workflow.prompts import layer1, problems

    def turn(text: str, gold: str) -> str:
        return layer1.policy_prompt(problems.problem(text, parse_gold(gold)))

    return Wording(problems.FOLDER, turn, layer1.version())
