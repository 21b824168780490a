"""Words, sentences and stems of a text, as the gold checks see them."""

import re
import unicodedata

from components.gold.stock import stock

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?]+[\"')\]]*(?=\s|$)|\n+")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})

FUNCTION_WORDS = stock("function_words")


def normalise(text: str) -> str:
    """Compatibility forms unified, straight quotes, lower case. White space stays."""
    return unicodedata.normalize("NFKC", text).translate(_QUOTES).lower()


def words(text: str) -> list[str]:
    """The words of a text, lower case; an apostrophe inside a word belongs to it."""
    return _WORD.findall(normalise(text))


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence, empty ones left out. Sentences end at a stop or a line's end."""
    parts = (words(part) for part in _SENTENCE_END.split(normalise(text)))
    return [part for part in parts if part]


def stem(word: str) -> str:
    """A crude stem that unites a word's inflections (mention, mentions, mentioned, mentioning).

    It is for comparing a response with a criterion, not for language in general: *friendly* and *friend* meet too.
    """
    word = word.removesuffix("'s").replace("'", "")
    if word == "criteria":
        return "criterion"
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif re.search(r"(?:s|x|z|ch|sh)es$", word):
        word = word[:-2]
    elif re.search(r"[^sui]s$", word) and len(word) > 3:
        word = word[:-1]
    for suffix in ("ing", "ed", "ly"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) > 1 and re.search(r"[aeiouy]", rest):
            # running -> runn -> run; but calling -> call, passing -> pass
            word = rest[:-1] if suffix != "ly" and re.search(r"([^aeioulsz])\1$", rest) else rest
            break
    return word.removesuffix("e") if len(word) > 2 else word
