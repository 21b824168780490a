"""Prompts of the chat protocols: turns in a text file, with fields in braces.

Each turn begins with a line ``--- system`` or ``--- user``. What calls about one response share stands first, and what
differs last, so that a server's prefix cache carries the shared part. A part that begins with a line ``--- again`` is
not a turn: it is added to the last turn when the judge is asked once more.
"""

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from components.core.errors import JudgeError
from components.judge.calls import Message

_FOLDER: Final = Path(__file__).with_name("prompts")
_PART: Final = re.compile(r"^--- (system|user|again)$", re.MULTILINE)
_FIELD: Final = re.compile(r"\{([a-z_]+)\}")


@dataclasses.dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A parsed template.

    Attributes:
        name: file name without ending.
        turns: role and text of each turn; the last one is the user's.
        again: reminder for a repeated question.
        digest: SHA-256 of the file, in hex.
    """

    name: str
    turns: tuple[tuple[Literal["system", "user"], str], ...]
    again: str
    digest: str

    def messages(self, values: Mapping[str, str], *, again: bool = False) -> tuple[Message, ...]:
        """The conversation. Values are put in as they are, and only once.

        Args:
            values: text of every field.
            again: whether to add the reminder.
        """

        def fill(match: re.Match[str]) -> str:
            return values[match.group(1)]

        filled = [Message(role, _FIELD.sub(fill, text)) for role, text in self.turns]
        if again:
            last = filled[-1]
            filled[-1] = Message(last.role, f"{last.content}\n\n{_FIELD.sub(fill, self.again)}")
        return tuple(filled)


def load_chat(name: str, fields: frozenset[str], folder: Path = _FOLDER) -> ChatTemplate:
    """Read ``NAME.txt``.

    Args:
        name: of the template.
        fields: those that it must have, all of them and no other.
        folder: where it lies.

    Raises:
        JudgeError: there is no such file, it is not a template, or its fields are not those of its protocol.
    """
    path = folder / f"{name}.txt"
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        there = ", ".join(sorted(each.stem for each in folder.glob("*.txt")))
        raise JudgeError(
            f"there is no chat prompt {name!r}", where=str(path), remedy=f"name one of: {there}"
        ) from error
    head, *parts = _PART.split(raw.decode("utf-8"))
    kinds, texts = parts[0::2], [text.strip() for text in parts[1::2]]
    turns = tuple((_role(kind), text) for kind, text in zip(kinds, texts, strict=True) if kind != "again")
    again = [text for kind, text in zip(kinds, texts, strict=True) if kind == "again"]
    if head.strip() or not turns or turns[-1][0] != "user" or len(again) != 1:
        raise JudgeError(
            "it needs turns of which the last one is the user's, and one reminder",
            where=str(path),
            remedy="write '--- system', '--- user' and '--- again' on lines of their own, each before its text",
        )
    used = frozenset(found for text in texts for found in _FIELD.findall(text))
    if used != fields:
        raise JudgeError(
            f"it has the fields {sorted(used)}, and its protocol fills {sorted(fields)}",
            where=str(path),
            remedy="use each of them, and no other word in braces",
        )
    return ChatTemplate(name, turns, again[0], hashlib.sha256(raw).hexdigest())


def _role(kind: str) -> Literal["system", "user"]:
    return "system" if kind == "system" else "user"
