"""Lists of phrases, one a line, and how often they stand in a text."""

import functools
import re
from pathlib import Path

from components.core.errors import ContractError
from components.gold.text import normalise

FOLDER = Path(__file__).parent / "lists"


@functools.cache
def phrases(name: str) -> tuple[str, ...]:
    """The phrases of a list, in lower case.

    Raises:
        ContractError: there is no such list, it is empty, or a phrase stands in it twice.
    """
    path = FOLDER / f"{name}.txt"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise ContractError(f"there is no list of phrases {name!r}", where=str(FOLDER)) from error
    found = tuple(normalise(line.strip()) for line in lines if line.strip() and not line.startswith("#"))
    if not found or len(set(found)) < len(found):
        raise ContractError("the list is empty, or names a phrase twice", where=str(path))
    return found


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    longest_first = sorted(phrases(name), key=lambda phrase: (-len(phrase), phrase))
    body = "|".join(r"\s+".join(re.escape(word) for word in phrase.split()) for phrase in longest_first)
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)")


def count_phrases(name: str, text: str) -> int:
    """How often phrases of a list stand in a text, whole and in any case; one inside a longer one counts once."""
    return len(_pattern(name).findall(normalise(text)))
