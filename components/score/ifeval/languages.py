"""The language of a text by langdetect, the same at every call, and some ten times as fast.

langdetect draws n-grams at random. Its seed is fixed here, one set of profiles serves the whole process, and they are
read in the order of their names, since a folder's own order differs from machine to machine. Profiles, normal forms and
addresses to leave out are langdetect's own; gathering n-grams and drawing from them are done in this package.
"""

import functools
import re
from pathlib import Path
from typing import NamedTuple

from components.core.errors import ConfigError
from components.score.ifeval.ngrams import Alphabet
from components.score.ifeval.sampling import Sampler

LONGEST = 10_000
"""Characters of a text that langdetect looks at."""

_LATIN = re.compile("[A-z]")
_OTHER = re.compile("[\u0300-\U0010ffff]")
"""langdetect means to leave out Latin letters from U+1E00 on; its comparison of a number with a name never holds."""


@functools.lru_cache(4096)
def detect(text: str) -> str | None:
    """The language's code, such as ``en`` or ``zh-cn``; None when langdetect finds nothing to go by (digits, say).

    Raises:
        ConfigError: langdetect is not installed.
    """
    profiles = _profiles()
    found = profiles.alphabet.ngrams(_prepared(text))
    return profiles.sampler.winner(found) if found else None


def _prepared(text: str) -> str:
    """Without addresses, and without Latin letters where they are few."""
    from langdetect.detector import Detector
    from langdetect.utils.ngram import NGram

    text = Detector.MAIL_RE.sub(" ", Detector.URL_RE.sub(" ", text))
    if text.isascii():
        return text[:LONGEST]
    text = str(NGram.normalize_vi(text))[:LONGEST]
    if 2 * len(_LATIN.findall(text)) < len(_OTHER.findall(text)):
        text = _LATIN.sub("", text)
    return text


class _Profiles(NamedTuple):
    alphabet: Alphabet
    sampler: Sampler


@functools.cache
def _profiles() -> _Profiles:
    try:
        from langdetect import detector_factory
        from langdetect.utils.ngram import NGram
    except ImportError as error:
        raise ConfigError("langdetect is not installed", where="language checks", remedy="make setup") from error

    factory = detector_factory.DetectorFactory()
    paths = sorted(path for path in Path(detector_factory.PROFILES_DIRECTORY).iterdir() if path.name[0] != ".")
    factory.load_json_profile([path.read_text(encoding="utf-8") for path in paths])
    table = factory.word_lang_prob_map
    return _Profiles(Alphabet(NGram.normalize, table), Sampler(factory.get_lang_list(), table))
