"""Reads what an executor model answered: tagged fields of known types. What is not there is an error, never a guess."""

import re
from collections.abc import Sequence
from typing import Final

from components.workflow.errors import OperatorError, OperatorReason

_TRUTHS: Final = {"true": True, "false": False}
_LETTER: Final = re.compile(r"[\s(\[\"'*`]*([A-Za-z])[\s)\]\"'*`.:]*")


def tagged(reply: str, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, str]:
    """The contents of ``<name>...</name>``, stripped. Read from the front: a tag inside of another field is its text.

    Args:
        reply: the model's text.
        required: fields that must be there and not blank.
        optional: fields that may be missing or blank, and then are "".

    Raises:
        OperatorError: a required field is missing or blank, or one comes twice with different contents.
    """
    names = [*required, *optional]
    opening = re.compile(rf"<\s*({'|'.join(map(re.escape, names))})\s*>", re.IGNORECASE)
    closing = {name: re.compile(rf"<\s*/\s*{re.escape(name)}\s*>", re.IGNORECASE) for name in names}
    found: dict[str, str] = {}
    place = 0
    while (begin := opening.search(reply, place)) is not None:
        name = begin[1].lower()
        end = closing[name].search(reply, begin.end()) if name in closing else None
        if end is None:
            # What never ends may be a mention; if it was the field, it is missing. It is not looked for again, since a
            # model may be made to write ten thousand of them.
            closing.pop(name, None)
            place = begin.end()
            continue
        content = reply[begin.end() : end.start()].strip()
        if found.setdefault(name, content) != content:
            raise OperatorError(OperatorReason.REPEATED_FIELD, f"the reply has two different <{name}>")
        place = end.end()
    for name in required:
        if not found.get(name):
            raise OperatorError(OperatorReason.MISSING_FIELD, f"the reply has no <{name}>...</{name}> with contents")
    return {name: found.get(name, "") for name in names}


def truth(text: str, name: str) -> bool:
    """Whether a field says true or false; nothing else is either.

    Raises:
        OperatorError: it says something else.
    """
    value = _TRUTHS.get(text.strip().strip(".*`\"'").casefold())
    if value is None:
        raise OperatorError(OperatorReason.BAD_VALUE, f"<{name}> must be true or false, got {text[:40]!r}")
    return value


def chosen(text: str, candidates: int) -> int:
    """The index of the candidate that a letter names.

    Args:
        text: the field; one letter, of either case, perhaps set off by brackets or a full stop.
        candidates: how many there are, A being the first.

    Raises:
        OperatorError: it is no single letter, or no candidate has it.
    """
    match = _LETTER.fullmatch(text)
    index = ord(match[1].upper()) - ord("A") if match else candidates
    if index >= candidates:
        last = letter(candidates - 1)
        raise OperatorError(OperatorReason.WRONG_LETTER, f"<letter> must be one of A to {last}, got {text[:40]!r}")
    return index


def letter(index: int) -> str:
    """The letter of a candidate."""
    return chr(ord("A") + index)


def lettered(candidates: Sequence[str]) -> str:
    """Candidates for a prompt, each under its letter."""
    return "\n\n".join(f"{letter(index)}:\n{text}" for index, text in enumerate(candidates))
