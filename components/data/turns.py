"""Conversations: the turns of a prompt, and how a judge reads several of them."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Final

from components.core.errors import ContractError
from components.core.unique_json import RepeatedKeyError
from components.data.rowfile import unpacked

ROLES: Final = ("system", "user", "assistant")
EXAMPLE: Final = '[{"role": "user", "content": "Write a line about rain."}]'


@dataclasses.dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: str
    content: str


def read_turns(value: object, *, where: str, key: str = "prompt") -> tuple[Turn, ...]:
    """The turns of a prompt, the user's last.

    Args:
        value: a text, which is one user turn; a list of objects with role and content; or such a list as JSON text.
        where: file and row, for messages.
        key: the row's key, for messages.

    Raises:
        ContractError: a turn is empty or of another role, a system turn is not the first, or the last is not the
            user's.
    """

    def wrong(what: str, remedy: str = f"such as {EXAMPLE}") -> ContractError:
        return ContractError(f"key {key!r}: {what}", where=where, remedy=remedy)

    if isinstance(value, str):
        repeated: RepeatedKeyError | None = None
        try:
            packed = unpacked(value)
        except RepeatedKeyError as error:
            # Still a prompt if it is some JSON of the user's, and no turns.
            packed, repeated = json.loads(value), error
        listed = (
            isinstance(packed, list) and packed and all(isinstance(turn, dict) and "role" in turn for turn in packed)
        )
        if listed and repeated is not None:
            raise wrong(repeated.what, repeated.remedy)
        value = packed if listed else [{"role": "user", "content": value}]
    if not isinstance(value, list) or not value:
        raise wrong("must be a text or a list of turns that is not empty")
    turns = []
    for number, entry in enumerate(value, start=1):
        if not isinstance(entry, dict) or entry.get("role") not in ROLES:
            role = entry.get("role") if isinstance(entry, dict) else entry
            raise wrong(f"turn {number} has the role {role!r}", f"roles are {', '.join(ROLES)}")
        content = entry.get("content")
        if not isinstance(content, str) or not content.strip():
            raise wrong(f"turn {number} is empty", "give every turn a text, or leave it out")
        if entry["role"] == "system" and number > 1:
            raise wrong(f"turn {number} is a system turn", "only the first turn may be the system's")
        turns.append(Turn(entry["role"], unicode_text(content, where=where).strip()))
    if turns[-1].role != "user":
        raise wrong(f"the last turn is the {turns[-1].role}'s", "leave out what follows the last user turn")
    return tuple(turns)


def question_of(turns: Sequence[Turn]) -> str:
    """What the judge reads as the request. A system turn is not part of it, as with the policy's own system prompt.

    One user turn is its text. Several turns are a conversation in plain text: a head line for each turn, such as
    ``Turn 1, user:``, then its text with every line indented by four spaces. Since no line of a text begins at the
    margin, no turn can pass for another one.
    """
    said = [turn for turn in turns if turn.role != "system"]
    if len(said) == 1:
        return said[0].content
    return "\n\n".join(
        f"Turn {number}, {turn.role}:\n" + "\n".join(f"    {line}" if line else "" for line in _lines(turn.content))
        for number, turn in enumerate(said, start=1)
    )


def unicode_text(text: str, *, where: str) -> str:
    """``text``, refused if it holds half of a surrogate pair, which no table can store."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ContractError(
            f"a text holds {text[error.start]!r}, which is no character",
            where=where,
            remedy="write the file again from the source, as UTF-8",
        ) from error
    return text


def _lines(text: str) -> list[str]:
    """All that any reader may show as a line, hence not split by line feeds alone."""
    return text.splitlines()
