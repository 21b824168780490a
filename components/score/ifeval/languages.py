"""The language of a text by langdetect, the same at every call.

langdetect draws n-grams at random. Its seed is fixed here, one factory serves the whole process, and language profiles
are read in the order of their names, since a folder's own order differs from machine to machine.
"""

import functools
import re
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.score.ifeval.ngrams import Alphabet

SEED = 0
LONGEST = 10_000
"""Characters of a text that langdetect looks at."""

_LATIN = re.compile("[A-z]")
_OTHER = re.compile("[\u0300-\u1dff\u1f00-\U0010ffff]")


@functools.lru_cache(4096)
def detect(text: str) -> str | None:
    """The language's code, such as ``en`` or ``zh-cn``; None when langdetect finds nothing to go by (digits, say).

    Raises:
        ConfigError: langdetect is not installed.
    """
    factory, alphabet = _factory()
    from langdetect.lang_detect_exception import LangDetectException

    detector = factory.create()
    found = alphabet.ngrams(_prepared(detector, text))
    # The two slow parts of a detection, done above: each looks at every character in a loop.
    detector.cleaning_text = lambda: None
    detector._extract_ngrams = lambda: found
    try:
        return str(detector.detect())
    except LangDetectException:
        return None


def _prepared(detector: Any, text: str) -> str:
    """Without addresses, and without Latin letters where they are few."""
    text = detector.MAIL_RE.sub(" ", detector.URL_RE.sub(" ", text))
    if text.isascii():
        return text[:LONGEST]
    from langdetect.utils.ngram import NGram

    text = str(NGram.normalize_vi(text))[:LONGEST]
    if 2 * len(_LATIN.findall(text)) < len(_OTHER.findall(text)):
        text = _LATIN.sub("", text)
    return text


@functools.cache
def _factory() -> tuple[Any, Alphabet]:
    try:
        from langdetect import detector_factory
        from langdetect.utils.ngram import NGram
    except ImportError as error:
        raise ConfigError("langdetect is not installed", where="language checks", remedy="make setup") from error

    factory = detector_factory.DetectorFactory()
    factory.set_seed(SEED)
    paths = sorted(path for path in Path(detector_factory.PROFILES_DIRECTORY).iterdir() if path.name[0] != ".")
    factory.load_json_profile([path.read_text(encoding="utf-8") for path in paths])
    return factory, Alphabet(NGram.normalize, factory.word_lang_prob_map)
