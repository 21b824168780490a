"""Prompts of the chat protocols: turns in a text file, with fields in braces.

Each turn begins with a line ``--- system`` or ``--- user``. What calls about one response share stands first, and what
differs last, so that a server's prefix cache carries the shared part. A part that begins with a line ``--- again`` is
not a turn: it is added to the last turn when the judge is asked once more.
"""

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Mapping
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
        again: reminder for a repeated question; empty where the protocol never repeats one.
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


def load_chat(name: str, fields: frozenset[str], folder: Path = _FOLDER, *, asks_again: bool = True) -> ChatTemplate:
    """Read ``NAME.txt``.

    Args:
        name: of the template.
        fields: those that the user's turns must have, all of them and no other; the reminder may use them again.
        folder: where it lies.
        asks_again: whether the protocol uses a reminder.

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
    except OSError as error:
        raise JudgeError(f"the file cannot be read: {error}", where=str(path), remedy="see its permissions") from error
    try:
        head, *parts = _PART.split(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise JudgeError(f"the file is not UTF-8: {error}", where=str(path), remedy="write it in UTF-8") from error
    kinds, texts = parts[0::2], [text.strip() for text in parts[1::2]]
    turns = tuple((_role(kind), text) for kind, text in zip(kinds, texts, strict=True) if kind != "again")
    again = [text for kind, text in zip(kinds, texts, strict=True) if kind == "again"]
    if head.strip() or not turns or turns[-1][0] != "user" or len(again) != asks_again:
        reminder, mark = ("one reminder", " and '--- again'") if asks_again else ("no reminder", "")
        raise JudgeError(
            f"it needs turns of which the last one is the user's, and {reminder}",
            where=str(path),
            remedy=f"write '--- system', '--- user'{mark} on lines of their own, each before its text",
        )
    used = _fields(text for role, text in turns if role == "user")
    if used != fields or not _fields(again) <= fields:
        found = sorted(used | _fields(again))
        raise JudgeError(
            f"the user's turns and the reminder have the fields {found}, and the protocol fills {sorted(fields)}",
            where=str(path),
            remedy="use each of them in a turn of the user, and no other word in braces",
        )
    if strange := _fields(text for role, text in turns if role == "system"):
        raise JudgeError(
            f"the system's turn has the fields {sorted(strange)}, and texts of others have no place there",
            where=str(path),
            remedy="move them into the user's turn",
        )
    return ChatTemplate(name, turns, "".join(again), hashlib.sha256(raw).hexdigest())


def _fields(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(found for text in texts for found in _FIELD.findall(text))


def _role(kind: str) -> Literal["system", "user"]:
    return "system" if kind == "system" else "user"
