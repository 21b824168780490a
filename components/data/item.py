"""One prompt of a data set, and its row in the PROMPTS contract."""

import dataclasses
import hashlib
from collections.abc import Sequence

from components.core.identity import canonical_json
from components.gold.checks import GoldChecks
from components.judge.rubrics import rubric_json
from components.judge.verdict import Criterion

ABILITY = "instruction_following"


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """A prompt before it is given a split and a place.

    Attributes:
        question: the user's request.
        template: name of the form that the question was made from; items of one template share a split.
        criteria: what the judge is asked about a response.
        gold: the checks by rule, which the judge never sees.
    """

    question: str
    template: str
    criteria: tuple[Criterion, ...]
    gold: GoldChecks

    def rubric_json(self) -> str:
        """The criteria as the JSON list that ``extra_info.rubric`` holds."""
        return rubric_json(self.criteria)

    def gold_json(self) -> str:
        """The hidden checks as the JSON object that ``reward_model.ground_truth`` holds."""
        return canonical_json(self.gold.to_json_value(), ascii=False)

    def id(self, system_prompt: str | None) -> str:
        """Sha256 (hex) of everything a response is made from and measured by, so that it moves with none but these."""
        content = [system_prompt, self.question, self.rubric_json(), self.gold_json()]
        return hashlib.sha256(canonical_json(content, ascii=False).encode()).hexdigest()


def prompt_rows(
    items: Sequence[Item], *, split: str, data_source: str, system_prompt: str | None
) -> list[dict[str, object]]:
    """Rows of the PROMPTS contract, in the order given.

    Args:
        items: the prompts of one split.
        split: ``train`` or ``heldout``.
        data_source: name under which metrics are grouped.
        system_prompt: put in front of every prompt; None for none.
    """
    system = [] if system_prompt is None else [{"role": "system", "content": system_prompt}]
    return [
        {
            "prompt": [*system, {"role": "user", "content": item.question}],
            "data_source": data_source,
            "ability": ABILITY,
            "reward_model": {"style": "rubric", "ground_truth": item.gold_json()},
            "extra_info": {
                "id": item.id(system_prompt),
                "index": index,
                "split": split,
                "question": item.question,
                "rubric": item.rubric_json(),
                "template": item.template,
            },
        }
        for index, item in enumerate(items)
    ]
