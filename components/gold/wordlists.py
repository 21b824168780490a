"""Hidden word lists: text files in ``words/``, and how their words are found in a text.

A word counts when it stands whole (not inside another word, nor joined to one by a hyphen), in any case, singular or
plural. Words that mean several things count only in a noun's place; the files mark them (see ``animals.txt``).
"""

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from components.core.errors import ConfigError, ContractError
from components.gold.stock import stock
from components.gold.text import FUNCTION_WORDS, normalise, words

FOLDER = Path(__file__).parent / "words"

DETERMINERS = stock("determiners")
ADJECTIVES = stock("adjectives")


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One word of a list.

    ``strictness`` says what place it needs: 0 any, 1 after a determiner, 2 also with no noun next.
    """

    word: str
    forms: tuple[str, ...]
    strictness: int


@dataclasses.dataclass(frozen=True, slots=True)
class Hit:
    """A word found; ``start`` and ``end`` are positions in the normalised text."""

    word: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class WordList:
    """A list ready for searching."""

    entries: tuple[Entry, ...]
    excluded: tuple[str, ...]

    @functools.cached_property
    def _by_form(self) -> dict[str, Entry]:
        return {form: entry for entry in self.entries for form in entry.forms}

    @functools.cached_property
    def _words(self) -> re.Pattern[str]:
        return _any_of(self._by_form)

    @functools.cached_property
    def _excluded(self) -> re.Pattern[str] | None:
        return _any_of(self.excluded) if self.excluded else None

    def find(self, text: str) -> list[Hit]:
        """Every occurrence that counts, in order."""
        text = normalise(text)
        if self._excluded is not None:
            # A mark of the same length keeps positions, and is neither a word nor a gap that a determiner reaches over.
            text = self._excluded.sub(lambda match: "#" * len(match.group()), text)
        hits = []
        for match in self._words.finditer(text):
            entry = self._by_form[" ".join(match.group().split())]
            if entry.strictness == 0 or _noun_place(text, match.start(), match.end(), entry.strictness):
                hits.append(Hit(entry.word, match.start(), match.end()))
        return hits


def word_list_path(name: str) -> Path:
    """The file of a word list.

    Raises:
        ConfigError: there is no list of that name.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.txt"))
    if name not in known:
        raise ConfigError(
            f"there is no word list {name!r}",
            where="data.gold.word_list",
            remedy=f"one of: {', '.join(known)}; or add {name}.txt to components/gold/words",
        )
    return FOLDER / f"{name}.txt"


@functools.cache
def load_word_list(name: str) -> WordList:
    """A list by name.

    Raises:
        ConfigError: there is none of that name.
        ContractError: a line of the file is not what it should be.
    """
    path = word_list_path(name)
    return parse_word_list(path.read_text(encoding="utf-8"), where=str(path))


def parse_word_list(text: str, *, where: str = "") -> WordList:
    """Read the format that ``animals.txt`` explains.

    Raises:
        ContractError: a line cannot be read, or a form stands in the list twice.
    """
    entries: list[Entry] = []
    excluded: list[str] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("-"):
            excluded.append(normalise(line[1:].strip()))
            continue
        strictness = len(line) - len(line.lstrip("!"))
        singular, _, plurals = (part.strip() for part in line[strictness:].partition("/"))
        singular = normalise(singular)
        forms = tuple(dict.fromkeys((singular, *_plurals(singular, normalise(plurals)))))
        if strictness > 2 or not all(words(form) for form in forms):
            raise ContractError(f"line {number} is no word: {line!r}", where=where, remedy="see animals.txt")
        for form in forms:
            if form in seen:
                raise ContractError(f"line {number}: {form!r} stands in line {seen[form]} already", where=where)
            seen[form] = number
        entries.append(Entry(singular, forms, strictness))
    if not entries:
        raise ContractError("the list has no words", where=where, remedy="one word a line; see animals.txt")
    return WordList(tuple(entries), tuple(excluded))


def _plurals(singular: str, given: str) -> Iterator[str]:
    if given:
        yield from (plural.strip() for plural in given.split(","))
    elif re.search(r"(?:s|x|z|ch|sh)$", singular):
        yield singular + "es"
    elif re.search(r"[^aeiou]y$", singular):
        yield singular[:-1] + "ies"
    else:
        yield singular + "s"


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    body = "|".join(r"\s+".join(re.escape(word) for word in phrase.split()) for phrase in longest_first)
    return re.compile(rf"(?<!\w)(?<!\w-)(?:{body})(?!\w)(?!-\w)")


def _noun_place(text: str, start: int, end: int, strictness: int) -> bool:
    before = re.search(r"(?:(\w+)\s+)?(\w+)\s+$", text[max(0, start - 40) : start])
    if before is None:
        return False
    second, first = before.groups()
    if first not in DETERMINERS and not (first in ADJECTIVES and second in DETERMINERS):
        return False
    after = re.match(r"\s+(\w+)", text[end:])
    return strictness < 2 or after is None or after.group(1) in FUNCTION_WORDS
