"""The rubric of a task: the line that the official check decides, and the judge's line where it is asked."""

from typing import TYPE_CHECKING, Final

import orjson

from components.judge.rubrics import rubric_json
from components.judge.rule import Rule
from components.judge.verdict import Criterion
from components.tasks.gold import CodeGold, MathGold, TaskGold
from components.tasks.sets import DATASETS

if TYPE_CHECKING:
    from components.core.spec import Experiment

CHECKED: Final = {
    "math": "The final answer is right.",
    "qa": "The answer is one of the known answers.",
    "code": "The program passes its tests.",
}
"""What the official check's line says, by domain."""
NO_ANSWER: Final = "no answer"
_HOLE: Final = "<gold>"


class Rubrics:
    """Makes rubrics.

    Args:
        experiment: with data of kind mixture: who decides in each domain, and how the judge is asked.
    """

    def __init__(self, experiment: "Experiment") -> None:
        mixture = experiment.data.mixture
        assert mixture is not None
        self._decided = mixture.decided_by.all
        self._qa_metric = mixture.qa_reward
        self._bare = experiment.reward.protocol == "semantic_equality"
        self._joined: dict[str, tuple[str, str]] = {
            domain: self._pieces(domain) for domain, who in self._decided.items() if who == "gold"
        }

    def text(self, gold: TaskGold, gold_json: str) -> str:
        """The rubric as ``extra_info.rubric`` holds it.

        Args:
            gold: of the row.
            gold_json: its canonical text.
        """
        domain = DATASETS[gold.dataset].domain
        if (pieces := self._joined.get(domain)) is not None:
            # The line differs from row to row in its gold alone.
            return orjson.dumps(gold_json).decode().join(pieces)
        both = self._decided[domain] == "both"
        checked = self._checked(domain, gold_json, points=1.0 if both else 0.0)
        return rubric_json([checked, Criterion(self._judged(gold), 1.0, "llm", (), None)])

    def _checked(self, domain: str, gold_json: str, points: float) -> Criterion:
        rule = {"name": "task", "gold": gold_json, "metric": self._qa_metric if domain == "qa" else "exact"}
        return Criterion(CHECKED[domain], points, "rule", (), Rule.parse(rule))

    def _pieces(self, domain: str) -> tuple[str, str]:
        rule = Rule("task", (("gold", _HOLE), ("metric", self._qa_metric if domain == "qa" else "exact")))
        whole = rubric_json([Criterion(CHECKED[domain], 1.0, "rule", (), rule)])
        before, after = whole.split(f'"{_HOLE}"')
        return before, after

    def _judged(self, gold: TaskGold) -> str:
        if isinstance(gold, CodeGold):
            return f"The program does what the task asks; these tests tell what is right:\n{gold.tests}"
        reference = gold.answer if isinstance(gold, MathGold) else "; or: ".join(gold.answers) or NO_ANSWER
        if self._bare:
            return reference
        return f"The final answer is equivalent to the reference answer: {reference}"
