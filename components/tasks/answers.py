"""From what a model wrote to the answer that it gave. One place of a response is looked at, never several."""

import dataclasses
import enum
import re
from collections.abc import Iterator
from typing import Final

from components.tasks.boxes import last_boxed as last_boxed
from components.tasks.boxes import place_of_last_boxed

TAIL: Final = 2000
"""Characters at the end of a response that are searched for an answer which nothing marks."""
_LINE: Final = 400
"""Longest line that may be a whole response that is the answer, or an answer behind a phrase."""
_THOUGHT_ENDS: Final = "</think>"
_PHRASE: Final = re.compile(r"\b(?:final\s{1,3})?answer(?:\s{1,3}is\b|\s{0,3}:|\s{0,3}=)[ \t*]{0,8}:?", re.IGNORECASE)
_SPAN: Final = re.compile(r"\$\$?([^$]{1,400})\$|\\\(([^$]{1,400}?)\\\)|\\\[([^$]{1,400}?)\\\]")
_WORD: Final = re.compile(
    r"(?<![\\A-Za-z])(?:[A-Za-z]{3,}|(?:[Ii]s|[Ss]o|[Ii]t|[Ww]e|[Hh]e|[Tt]o|[Oo]f|[Aa]s|[Aa]t|[Bb]y|[Ii]f|[Nn]o)(?![A-Za-z]))"
)
_COMMAND: Final = re.compile(r"\\(?:text|mbox|textbf|textit|mathrm|operatorname)\s?\{[^{}]{0,100}\}")
_FUNCTION: Final = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "sqrt", "frac", "inf", "arcsin"})
_WHOLE_PART: Final = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+"
_NUMBER: Final = re.compile(
    r"(?<![A-Za-z0-9_/.])(?:[-−+][ ]?)?(?:\\?\$[ ]?)?(?:[-−+][ ]?)?"
    rf"(?:\\[dt]?frac\s?\{{\s?[-−]?[0-9]{{1,40}}\s?\}}\s?\{{\s?[0-9]{{1,40}}\s?\}}"
    rf"|(?:{_WHOLE_PART})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{{1,4}}(?![0-9A-Za-z]))?(?:\s?/\s?[0-9]+)?|\.[0-9]+)(?:\s?\\?%)?"
    r"(?![0-9]|[.,][0-9]|\s?/|[eE][0-9])"
)
_MARKER: Final = "####"


class Place(enum.StrEnum):
    """Where the answer of a mathematical response was found."""

    BOX = "box"
    MARKER = "marker"
    PHRASE = "phrase"
    WHOLE = "whole"
    NUMBER = "number"
    NONE = "none"


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """Attributes:
    place: where it was found; ``NONE`` when nothing marks an answer.
    text: the answer; None where ``place`` is ``NONE``.
    context: text in which a mathematical expression is to be looked for if ``text`` cannot be read as one; empty
        where ``text`` alone counts.
    """

    place: Place
    text: str | None
    context: str = ""


def without_reasoning(response: str) -> str:
    """What follows the end of the model's reasoning; all of it when it never ends one."""
    return response.rpartition(_THOUGHT_ENDS)[2]


def math_answer(response: str, *, last_number: bool = False) -> Found:
    """The final answer of a mathematical response.

    The last of a closed box and GSM8K's marker ``####``; else what follows the last "answer is" or "answer:"; else the
    whole response when it is one line without prose; else, where ``last_number`` is asked, the last number; else
    nothing, and ``context`` is the end of the response.

    Args:
        response: the raw text; reasoning that ends is left out.
        last_number: as is usual for GSM8K.
    """
    text = without_reasoning(response)
    marker = text.rfind(_MARKER)
    box = place_of_last_boxed(text)
    if marker >= 0 and (box is None or box[0] < marker):
        line = text[marker + len(_MARKER) :].lstrip(" \t").partition("\n")[0].strip()
        if line:
            return _marked(line[:_LINE])
    if box is not None and (content := text[box[0] : box[1]].strip()):
        return Found(Place.BOX, content)
    tail = text[-TAIL:]
    if phrase := _behind_phrase(tail):
        return phrase
    whole = text.strip() if len(text) <= 4 * _LINE else ""
    if whole and len(whole) <= _LINE and "\n" not in whole and "box" not in whole and not _has_prose(whole):
        return Found(Place.WHOLE, bare(whole), whole)
    if last_number and (numbers := list(_NUMBER.finditer(tail))):
        return Found(Place.NUMBER, numbers[-1].group())
    return Found(Place.NONE, None, tail)


def bare(text: str) -> str:
    """An answer without what only sets it off: white space, emphasis, dollar signs around it, a full stop behind it."""
    found = text.strip().strip("*_`").strip()
    if found.endswith(".") and not found.endswith(".."):
        found = found[:-1].rstrip("* ")
    for begin, end in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if found.startswith(begin) and found.endswith(end) and len(found) > len(begin) + len(end):
            inner = found[len(begin) : -len(end)]
            if begin not in inner:
                return inner.strip()
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class QaAnswer:
    """Attributes:
    text: the answer; empty when the model says that there is none.
    facts: supporting facts that it names, as (title, number of the sentence); None when it names none.
    """

    text: str
    facts: tuple[tuple[str, int], ...] | None = None


_LABEL: Final = re.compile(r"^[ \t*#>]{0,8}(?:final\s{1,3})?(?:answer|a)[ \t*]{0,4}:[ \t*]{0,4}(.*)$", re.I)
_FACTS: Final = re.compile(r"^[ \t*#>]{0,8}(?:supporting\s{1,3})?facts[ \t*]{0,4}:(.*)$", re.I)
_FACT: Final = re.compile(r"(.+)[,|:#]\s{0,4}([0-9]{1,4})\s{0,4}[\])]?[.;,]?$")
_BULLET: Final = re.compile(r"^(?:[-*•]|[0-9]{1,2}[.)])\s{1,4}")
_NO_ANSWER: Final = frozenset(
    {
        "no answer",
        "noanswer",
        "unanswerable",
        "not answerable",
        "unknown answer",
        "cannot be answered",
        "question is unanswerable",
        "question cannot be answered",
        "there is no answer",
    }
)


def qa_answer(response: str) -> QaAnswer:
    """The answer to a question: the last line that is labelled as one, else the first that is not blank.

    Supporting facts are read behind a line "Supporting facts:", as ``[title, number]`` or ``title, number``.
    """
    lines = without_reasoning(response).strip().split("\n")
    facts: tuple[tuple[str, int], ...] | None = None
    for index in range(len(lines) - 1, -1, -1):
        if (match := _FACTS.match(lines[index][:_FACT_LINE])) is not None:
            facts = tuple(_facts([match.group(1), *lines[index + 1 : index + 1 + _MOST_FACTS]]))
            lines = lines[:index]
            break
    labelled = next((found for line in reversed(lines) if (found := _LABEL.match(line[:_FACT_LINE]))), None)
    text = labelled.group(1) if labelled is not None else next((line for line in lines if line.strip()), "")
    text = text.strip().strip("*`").strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    return QaAnswer("" if says_none(text) else text, facts)


_FACT_LINE: Final = 4000
_MOST_FACTS: Final = 40


def says_none(text: str) -> bool:
    """Whether an answer says, in one of the usual wordings, that the question has none."""
    if len(text) > 100:
        return False
    words = re.sub(r"[^a-z ]", " ", text.lower()).split()
    return " ".join(word for word in words if word not in ("the", "a", "an", "this")) in _NO_ANSWER


def _facts(lines: list[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        text = line[: _FACT_LINE // 4].strip()
        if _LABEL.match(text):
            return
        for part in re.split(r"\][ \t]?[,;]?[ \t]?(?=\[)", text):
            match = _FACT.match(_BULLET.sub("", part.strip().rstrip("]) \t.;,")).lstrip("*[( \t"))
            if match is None:
                continue
            title = match.group(1).strip()
            if len(title) > 1 and title[0] == title[-1] and title[0] in "\"'":
                title = title[1:-1].strip()
            if title:
                yield title, int(match.group(2))


def _marked(line: str) -> Found:
    number = _NUMBER.search(line)
    if number is not None and not _has_prose(line[: number.start()]):
        return Found(Place.MARKER, number.group() if _has_prose(line) else bare(line))
    return Found(Place.MARKER, bare(line))


def _behind_phrase(tail: str) -> Found | None:
    found = None
    for found in _PHRASE.finditer(tail):  # noqa: B007 - the last one counts
        pass
    if found is None:
        return None
    line = tail[found.end() :].lstrip().partition("\n")[0].strip()[:_LINE]
    if not line:
        return None
    if (span := _SPAN.match(line.lstrip("*: "))) is not None and not _money(span):
        text = next(group for group in span.groups() if group is not None).strip()
        return Found(Place.PHRASE, text, line)
    number = _NUMBER.match(line)
    if number is not None and _has_prose(line[number.end() :]):
        return Found(Place.PHRASE, number.group(), line)
    return Found(Place.PHRASE, bare(line), line)


def _money(span: re.Match[str]) -> bool:
    """Whether two sums of money only look like a formula: "$18 a day, $9 more", "$9 + $9"."""
    text = span.group(1)
    return (
        text is not None
        and text[-1:].isspace()
        and span.string[span.end() : span.end() + 1].isdigit()
        and text[:1].isdigit()
    )


def _has_prose(text: str) -> bool:
    """Whether there are words outside of LaTeX's commands."""
    plain = _COMMAND.sub(" ", text)
    return any(word.group().lower() not in _FUNCTION for word in _WORD.finditer(plain))
