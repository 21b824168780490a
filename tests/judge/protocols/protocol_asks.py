"""Scripted judges without a network, and readers of prompts that know nothing of how prompts are made."""

import dataclasses
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from components.judge.calls import Answer, AnswerToken, Call, Usage
from components.judge.failures import Failure
from components.judge.protocols import chat_template
from components.judge.protocols.base import ChatProtocol, Sampling
from components.judge.protocols.pairwise import FIELDS as PAIRWISE_FIELDS
from components.judge.protocols.pairwise import Pairwise
from components.judge.protocols.per_criterion import (
    PER_CRITERION,
    SEMANTIC_EQUALITY,
    VERIF_PER_CONSTRAINT,
    Form,
    PerCriterion,
)
from components.judge.protocols.rubric import FIELDS as RUBRIC_FIELDS
from components.judge.protocols.rubric import Rubric
from components.judge.protocols.verif import FIELDS as VERIF_FIELDS
from components.judge.protocols.verif import Verif
from components.judge.protocols.yes_no import FIELDS as TOKEN_FIELDS
from components.judge.protocols.yes_no import YesNo
from components.judge.verdict import Criterion, Sample, UnknownReason

SAMPLING = Sampling(256)
FOLDER = Path(chat_template.__file__).with_name("prompts")


def of_form(form: Form) -> PerCriterion:
    return PerCriterion(form, chat_template.load_chat(form.name, form.fields), SAMPLING)


def rubric() -> Rubric:
    return Rubric(chat_template.load_chat("rubric", RUBRIC_FIELDS), SAMPLING)


def token(min_mass: float = 0.5) -> YesNo:
    template = chat_template.load_chat("rubric_token", TOKEN_FIELDS, asks_again=False)
    return YesNo(template, SAMPLING, min_mass)


def verif() -> Verif:
    return Verif(chat_template.load_chat("verif", VERIF_FIELDS), SAMPLING)


def pairwise() -> Pairwise:
    return Pairwise(chat_template.load_chat("pairwise", PAIRWISE_FIELDS), SAMPLING)


ALL: dict[str, Callable[[], ChatProtocol]] = {
    "rubric": rubric,
    "rubric_per_criterion": lambda: of_form(PER_CRITERION),
    "rubric_token": token,
    "verif": verif,
    "verif_per_constraint": lambda: of_form(VERIF_PER_CONSTRAINT),
    "semantic_equality": lambda: of_form(SEMANTIC_EQUALITY),
    "pairwise": pairwise,
}


def sample(*texts: str, response: str = "A cat sleeps.", question: str = "Write a sentence.") -> Sample:
    criteria = tuple(Criterion(text) for text in texts or ("mentions an animal",))
    return Sample("row-7", "sample-7", question, response, criteria)


@dataclasses.dataclass(slots=True)
class Dropped:
    """Counts how often a reply was asked to be forgotten."""

    times: int = 0

    def __call__(self) -> None:
        self.times += 1


def said(text: str, **changes: object) -> Answer:
    whole = Answer(text, "stop", Usage(100, 10), None, 1, f"id of {text[:20]}", 0.1)
    return dataclasses.replace(whole, **changes)  # type: ignore[arg-type]


def spelled(*top: tuple[str, float], first: tuple[str, float] | None = None) -> Answer:
    """A reply of one token; ``top``: its alternatives, the likeliest first."""
    text, chance = first or top[0]
    return said(text, finish="length", tokens=(AnswerToken(text, chance, top),))


def failed(reason: UnknownReason, attempts: int = 1) -> Failure:
    return Failure(reason, f"it is {reason.value}", None, attempts)


Replies = Callable[[Call], str | Answer | Failure]


class Script:
    """An Ask that answers by a function of the call, and keeps what it was asked."""

    def __init__(self, replies: Replies | Iterable[str | Answer | Failure]) -> None:
        self.calls: list[Call] = []
        if callable(replies):
            self._replies: Replies = replies
        else:
            one_by_one = iter(replies)
            self._replies = lambda _: next(one_by_one)

    async def __call__(self, call: Call) -> Answer | Failure:
        self.calls.append(call)
        got = self._replies(call)
        return said(got) if isinstance(got, str) else got

    @property
    def asked(self) -> list[tuple[str, list[int]]]:
        """Purpose of each call and the criteria in its list."""
        return [(call.purpose, numbers(call)) for call in self.calls]


def user(call: Call) -> str:
    return call.messages[-1].content


def listed(call: Call) -> dict[int, str]:
    """The criteria of a rubric's prompt: lines ``cN: text`` behind the last quotation."""
    _, _, rest = user(call).rpartition("\nThe criteria, one a line:\n")
    lines = rest.partition("\n\n")[0].split("\n")
    return {int(line[1 : line.index(":")]): line[line.index(":") + 2 :] for line in lines}


def numbers(call: Call) -> list[int]:
    return list(listed(call))


def quotations(prompt: str) -> dict[str, str]:
    """Name to text of every quotation, by the rule that the system turn states: two lines with name and code."""
    found: dict[str, str] = {}
    lines = prompt.split("\n")
    place = 0
    while place < len(lines):
        words = lines[place].split(" ")
        if len(words) >= 4 and words[0] == words[-1] == "===" and re.fullmatch("[0-9a-f]{16}", words[-2]):
            name, code = " ".join(words[1:-2]), words[-2]
            end = lines.index(f"=== END OF {name} {code} ===", place)
            assert name not in found
            found[name] = "\n".join(lines[place + 1 : end])
            place = end
        place += 1
    return found


def outside(prompt: str) -> str:
    """The prompt without what stands in quotations, and without their codes."""
    for name, text in quotations(prompt).items():
        opening = re.search(rf"^=== {name} ([0-9a-f]{{16}}) ===$", prompt, re.MULTILINE)
        assert opening is not None
        whole = f"{opening[0]}\n{text}\n=== END OF {name} {opening[1]} ==="
        assert prompt.count(whole) == 1
        prompt = prompt.replace(whole, f"<<{name}>>")
    return prompt
