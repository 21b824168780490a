"""Instruction ids -> checks."""

import re
from collections.abc import Mapping
from typing import Any

from components.core.errors import ContractError
from components.score.ifeval.arguments import Arguments
from components.score.ifeval.checks import (
    case,
    combination,
    content,
    format,
    keywords,
    language,
    length,
    punctuation,
    startend,
)
from components.score.ifeval.checks.base import Check

CHECKS: Mapping[str, type[Check]] = {
    "change_case:capital_word_frequency": case.CapitalWordFrequency,
    "change_case:english_capital": case.EnglishCapital,
    "change_case:english_lowercase": case.EnglishLowercase,
    "combination:repeat_prompt": combination.RepeatPrompt,
    "combination:two_responses": combination.TwoResponses,
    "detectable_content:number_placeholders": content.NumberPlaceholders,
    "detectable_content:postscript": content.Postscript,
    "detectable_format:constrained_response": format.ConstrainedResponse,
    "detectable_format:json_format": format.JsonFormat,
    "detectable_format:multiple_sections": format.MultipleSections,
    "detectable_format:number_bullet_lists": format.NumberBulletLists,
    "detectable_format:number_highlighted_sections": format.NumberHighlightedSections,
    "detectable_format:title": format.Title,
    "keywords:existence": keywords.Existence,
    "keywords:forbidden_words": keywords.ForbiddenWords,
    "keywords:frequency": keywords.Frequency,
    "keywords:letter_frequency": keywords.LetterFrequency,
    "language:response_language": language.ResponseLanguage,
    "length_constraints:nth_paragraph_first_word": length.NthParagraphFirstWord,
    "length_constraints:number_paragraphs": length.NumberParagraphs,
    "length_constraints:number_sentences": length.NumberSentences,
    "length_constraints:number_words": length.NumberWords,
    "punctuation:no_comma": punctuation.NoComma,
    "startend:end_checker": startend.EndChecker,
    "startend:quotation": startend.Quotation,
}


def build_check(kind: str, kwargs: Mapping[str, Any], where: str = "") -> Check:
    """The check of one instruction.

    Args:
        kind: the instruction's id, such as ``keywords:existence``.
        kwargs: its arguments; nulls are dropped.
        where: file and key, for errors.

    Raises:
        ContractError: the id is unknown, or an argument is missing, unknown or wrong.
    """
    if kind not in CHECKS:
        raise ContractError(
            f"unknown instruction {kind!r}", where=where, remedy=f"one of the 25 of IFEval: {', '.join(CHECKS)}"
        )
    place = f"{where}, {kind}" if where else kind
    given = Arguments(kwargs, where=place)
    try:
        check = CHECKS[kind].build(given)
    except re.error as error:
        # A regular expression by itself, and none where the check puts it: (?i) stands at the start alone.
        raise ContractError(
            f"an argument is no regular expression within that of the check: {error}",
            where=place,
            remedy="write the word as it is to be found",
        ) from error
    given.done()
    return check
