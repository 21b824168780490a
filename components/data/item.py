"""One prompt of a data set, and its row in the PROMPTS contract."""

import dataclasses
import hashlib
from collections.abc import Sequence

from components.core.errors import ConfigError
from components.core.identity import canonical_json
from components.data.turns import Turn
from components.gold.checks import GoldChecks
from components.judge.rubrics import rubric_json
from components.judge.verdict import Criterion

ABILITY = "instruction_following"


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """A prompt before it is given a split and a place.

    Attributes:
        question: the user's request as the judge reads it; see :func:`components.data.turns.question_of`.
        template: name of the form that the question was made from; items of one template share a split.
        criteria: what the judge or a rule is asked about a response.
        gold: the checks by rule, which the judge never sees; None for none.
        turns: the conversation, the user's turn last; empty where the question is the only turn.
        where: file and line that it is from, for messages; empty where it was made. No part of what the item is.
    """

    question: str
    template: str
    criteria: tuple[Criterion, ...]
    gold: GoldChecks | None
    turns: tuple[Turn, ...] = ()
    where: str = dataclasses.field(default="", compare=False)

    def rubric_json(self) -> str:
        """The criteria as the JSON list that ``extra_info.rubric`` holds."""
        return rubric_json(self.criteria)

    def gold_json(self) -> str:
        """The hidden checks as the JSON object that ``reward_model.ground_truth`` holds; ``null`` for none."""
        return canonical_json(None if self.gold is None else self.gold.to_json_value(), ascii=False)

    @property
    def system(self) -> str | None:
        """The row's own system turn."""
        return self.turns[0].content if self.turns and self.turns[0].role == "system" else None

    def messages(self, system_prompt: str | None) -> list[dict[str, str]]:
        """The conversation that the policy reads.

        Args:
            system_prompt: put in front; None for none.

        Raises:
            ConfigError: there is one, and the row begins with a system turn of its own.
        """
        if system_prompt is not None and self.system is not None:
            raise ConfigError(
                "the row begins with a system turn, and the policy has a system prompt too",
                where=f"policy.system_prompt; the row of {self.question[:60]!r}",
                remedy="set policy.system_prompt: null, or leave the system turns out of the file",
            )
        turns = self.turns or (Turn("user", self.question),)
        if system_prompt is not None:
            turns = (Turn("system", system_prompt), *turns)
        return [{"role": turn.role, "content": turn.content} for turn in turns]

    def id(self, system_prompt: str | None) -> str:
        """Sha256 (hex) of everything a response is made from and measured by, so that it moves with none but these."""
        system = system_prompt if self.system is None else self.system
        content: list[object] = [system, self.question, self.rubric_json(), self.gold_json()]
        said = [[turn.role, turn.content] for turn in self.turns if turn.role != "system"]
        if len(said) > 1:
            content.append(said)
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

    Raises:
        ConfigError: a row has a system turn of its own beside ``system_prompt``.
    """
    return [
        {
            "prompt": item.messages(system_prompt),
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
