"""Prompt templates: turns in a text file, rendered in the chat style of the judge's model.

A file begins with ``style: NAME``; each turn begins with a line ``--- system``, ``--- user`` or ``--- assistant``. The
last turn is the assistant's and holds ``{response}`` alone. Other turns may hold ``{criterion}`` and ``{question}``.
"""

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from components.core.errors import JudgeError

_FOLDER: Final = Path(__file__).with_name("templates")
_TURN: Final = re.compile(r"^--- (system|user|assistant)$", re.MULTILINE)
_FIELD: Final = re.compile(r"\{([a-z_]+)\}")
_FIELDS: Final = frozenset({"criterion", "question"})


class Style(NamedTuple):
    """How a model family writes turns: before all, one turn, and the opening of the turn that is judged."""

    start: str
    turn: str
    opening: str


STYLES: Final[Mapping[str, Style]] = {
    "chatml": Style("", "<|im_start|>{role}\n{content}<|im_end|>\n", "<|im_start|>{role}\n"),
    "llama3": Style(
        "<|begin_of_text|>",
        "<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>",
        "<|start_header_id|>{role}<|end_header_id|>\n\n",
    ),
    "plain": Style("", "{role}: {content}\n", "{role}: "),
}
"""ChatML is that of SmolLM2 and Qwen; plain is for base models."""


class Turn(NamedTuple):
    """One message."""

    role: str
    content: str


@dataclasses.dataclass(frozen=True, slots=True)
class Template:
    """A parsed template.

    Attributes:
        name: file name without ending.
        style: how turns are written.
        turns: all turns before the one that is judged.
        digest: sha256 of the file, in hex.
    """

    name: str
    style: Style
    turns: tuple[Turn, ...]
    digest: str

    @property
    def fields(self) -> frozenset[str]:
        """Names of the fields that it uses."""
        return frozenset(name for turn in self.turns for name in _FIELD.findall(turn.content))

    def prefix(self, values: Mapping[str, str]) -> str:
        """The prompt up to the place where the response begins. Values are put in as they are, and only once."""

        def fill(match: re.Match[str]) -> str:
            return values[match.group(1)]

        text = self.style.start
        for turn in self.turns:
            text += _render(self.style.turn, turn.role, _FIELD.sub(fill, turn.content))
        return text + _render(self.style.opening, "assistant", "")


def load(name: str, folder: Path = _FOLDER) -> Template:
    """Read ``NAME.txt``.

    Raises:
        JudgeError: there is no such file, or it is not a template.
    """
    path = folder / f"{name}.txt"
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        there = ", ".join(sorted(each.stem for each in folder.glob("*.txt")))
        raise JudgeError(
            f"there is no prompt template {name!r}", where=str(path), remedy=f"name one of: {there}"
        ) from error
    head, *parts = _TURN.split(raw.decode("utf-8"))
    roles, contents = parts[0::2], [part.strip() for part in parts[1::2]]
    style = head.strip().removeprefix("style:").strip()
    if style not in STYLES:
        raise JudgeError(
            f"unknown style {style!r}", where=str(path), remedy=f"begin with 'style: ' and one of: {', '.join(STYLES)}"
        )
    if not roles or roles[-1] != "assistant" or contents[-1] != "{response}":
        raise JudgeError("the last turn must be '--- assistant' with {response} alone", where=str(path))
    turns = tuple(Turn(role, content) for role, content in zip(roles[:-1], contents[:-1], strict=True))
    template = Template(name, STYLES[style], turns, hashlib.sha256(raw).hexdigest())
    if wrong := template.fields - _FIELDS:
        raise JudgeError(
            f"unknown fields {sorted(wrong)}", where=str(path), remedy=f"use only {sorted(_FIELDS)} in earlier turns"
        )
    return template


def _render(form: str, role: str, content: str) -> str:
    return form.replace("{role}", role).replace("{content}", content)
