"""Reads a question to a judge out of the prompt as it was rendered, and writes the reply that the prompt asks for."""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.bias.scripted.judge import ScriptedJudge
from components.bias.types import Form

UNREADABLE: Final = "Let me put it like this: there is much to be said on either side of the matter."
"""What the judge says where it fails: prose without a verdict."""
_FENCED: Final = re.compile(
    r"^=== (?P<name>[A-Z ]+?) (?P<code>[0-9a-f]{16}) ===\n(?P<text>.*?)\n=== END OF (?P=name) (?P=code) ===",
    re.MULTILINE | re.DOTALL,
)
_REFERENCE: Final = re.compile(r"\n\s*A right answer to it, as a measure for others:\n")
_NUMBERED: Final = re.compile(r"^(c\d+): (.*)$", re.MULTILINE)
_DASHED: Final = re.compile(r"^- (.*)$", re.MULTILINE)
_SINGLE: Final = re.compile(r"^The criterion:\n(.*)$", re.MULTILINE)
_MARKS: Final = re.compile(r'^"mark" is one of (.*)\.$', re.MULTILINE)
_SCALE: Final = re.compile(r"^The marks:\n(.*?)\n\n", re.MULTILINE | re.DOTALL)


class UnknownPromptError(ValueError):
    """The prompt is none that this judge can answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """A question to a judge.

    Attributes:
        kind: ``pairwise``, ``pointwise``, ``rubric``, ``criterion`` or ``token``.
        forms: one response, or the two of a pair in the order shown.
        keys: of the criteria, in a rubric.
    """

    kind: str
    forms: tuple[Form, ...]
    keys: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same question."""
        return json.dumps([self.kind, [dataclasses.astuple(form) for form in self.forms]])


def read_prompt(messages: Sequence[Mapping[str, Any]]) -> Asked:
    """What the last turn asks.

    Raises:
        UnknownPromptError: it is no question about responses that this judge knows.
    """
    content = messages[-1].get("content") if messages else None
    if not isinstance(content, str):
        raise UnknownPromptError("the last message has no text")
    parts = {found["name"]: found["text"] for found in _FENCED.finditer(content)}
    around = _FENCED.sub("", content)
    question, *reference = _REFERENCE.split(parts.get("QUESTION", ""), maxsplit=1)
    shown = reference[0] if reference else None
    if "FIRST RESPONSE" in parts and "SECOND RESPONSE" in parts:
        pair = (parts["FIRST RESPONSE"], parts["SECOND RESPONSE"])
        return Asked("pairwise", tuple(Form(question, response, (), shown) for response in pair))
    if "RESPONSE" not in parts:
        raise UnknownPromptError("the prompt shows no response between fences")
    form = Form(question, parts["RESPONSE"], (), shown)
    marks = _MARKS.search(around)
    if marks:
        return Asked("pointwise", (_scaled(form, around, marks[1]),))
    numbered = _NUMBERED.findall(around)
    if numbered:
        criteria = tuple(text for _, text in numbered)
        return Asked("rubric", (dataclasses.replace(form, criteria=criteria),), tuple(key for key, _ in numbered))
    single = _SINGLE.search(around)
    if single:
        kind = "token" if around.rstrip().endswith("Answer yes or no.") else "criterion"
        return Asked(kind, (dataclasses.replace(form, criteria=(single[1],)),))
    raise UnknownPromptError("the prompt asks for no comparison, mark or criteria that this judge knows")


def reply(judge: ScriptedJudge, asked: Asked, asking: int) -> str:
    """The judge's reply as text.

    Args:
        judge: decides.
        asked: the question.
        asking: number of earlier askings of the same.
    """
    if asked.kind == "pairwise":
        first, second = asked.forms
        wins = judge.first_wins(first, second, asking)
        return UNREADABLE if wins is None else _json({"explanation": "Scripted.", "better": _PLACE[wins]})
    form = asked.forms[0]
    if asked.kind == "pointwise":
        place = judge.place(form, asking)
        return UNREADABLE if place is None else _json({"explanation": "Scripted.", "mark": form.scale[place]})
    met = judge.met(form, asking)
    if met is None:
        return UNREADABLE
    words = [_MET[each] for each in met]
    if asked.kind == "rubric":
        return _json(dict(zip(asked.keys, words, strict=True)))
    return (
        ("yes" if met[0] else "no")
        if asked.kind == "token"
        else _json({"explanation": "Scripted.", "verdict": words[0]})
    )


_PLACE: Final = {True: "first", False: "second"}
_MET: Final = {True: "met", False: "unmet"}


def _scaled(form: Form, around: str, marks: str) -> Form:
    scale = tuple(mark.strip() for mark in marks.split(","))
    explained = _SCALE.search(around)
    listed = [line.split()[0] for line in explained[1].splitlines() if line.strip()] if explained else []
    listing = "down" if listed and listed[0] == scale[-1] else "up"
    criteria = tuple(_DASHED.findall(around))
    return dataclasses.replace(form, criteria=criteria, scale=scale, listing=listing)


def _json(value: Mapping[str, str]) -> str:
    return json.dumps(value)
