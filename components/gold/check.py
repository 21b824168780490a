"""Gold: whether a response truly does what was asked, by rules that the judge never sees."""

import dataclasses
from collections.abc import Sequence

from components.gold.checks import GoldChecks
from components.gold.echo import Echo, find_echo
from components.gold.ifeval import follows
from components.gold.shape import shape_faults
from components.gold.text import words
from components.gold.wordlists import load_word_list


@dataclasses.dataclass(frozen=True, slots=True)
class Gold:
    """The outcome of the checks on one response.

    Attributes:
        gold: ``keyword and not echo and length_ok``; None when the row names no check that a response could pass.
        keyword: a word of the hidden list occurs, and every constraint is followed strictly; None without either.
        echo: the response parrots a criterion; None where that is not looked at.
        length_ok: the number of words is within bounds and they make prose; None for a row without checks.
        words: number of words.
        detail: what was found, JSON-able.
    """

    gold: bool | None
    keyword: bool | None
    echo: bool | None
    length_ok: bool | None
    words: int
    detail: dict[str, object]


def check_gold(checks: GoldChecks | None, criteria: Sequence[str], response: str, question: str = "") -> Gold:
    """Apply a row's hidden checks.

    Args:
        checks: the row's checks; None for a row without any, of which nothing but the length is then known.
        criteria: texts of the criteria with positive points.
        response: the response.
        question: the user's request.

    Raises:
        ConfigError: there is no such word list.
        ContractError: a constraint is unknown or lacks an argument.
    """
    if checks is None:
        return Gold(None, None, None, None, len(words(response)), {})
    hits = load_word_list(checks.word_list).find(response) if checks.word_list is not None else []
    followed = [
        {
            "id": name,
            "strict": follows(name, kwargs, response),
            "loose": follows(name, kwargs, response, loose=True),
        }
        for name, kwargs in checks.constraints
    ]
    positive = checks.word_list is not None or bool(checks.constraints)
    keyword = positive and (checks.word_list is None or bool(hits)) and all(entry["strict"] for entry in followed)
    echo = find_echo(criteria, response, question) if checks.echo else Echo(None)
    faults = shape_faults(response, hits, min_words=checks.min_words, max_words=checks.max_words)
    detail: dict[str, object] = {"keywords": sorted({hit.word for hit in hits}), "faults": faults}
    if echo:
        detail["echo"] = {"rule": echo.rule, "evidence": echo.evidence}
    if checks.constraints:
        detail["constraints"] = followed
    return Gold(
        gold=keyword and not echo and not faults if positive else None,
        keyword=keyword if positive else None,
        echo=bool(echo) if checks.echo else None,
        length_ok=not faults,
        words=len(words(response)),
        detail=detail,
    )
