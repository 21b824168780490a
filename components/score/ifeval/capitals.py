"""Words in capitals, by NLTK's word tokenizer."""

import functools
import re
from typing import Any

from components.core.errors import ConfigError

_MAY_HOLD_ONE = re.compile(r"[A-Z](?![a-z])|'[Tt]|[^\x00-\x7f]")
"""A word in capitals has a last capital, and no small letter follows it in that word. The tokenizer cuts inside a run
of letters, too (can|not): capital and small letter are parted only by its cut of *'tis* and *'twas* behind the T."""


@functools.lru_cache(1 << 14)
def count(sentence: str) -> int:
    """How many words of one sentence are in capitals throughout; cached, since a response's variants share sentences.

    Raises:
        ConfigError: NLTK is not installed.
    """
    if _MAY_HOLD_ONE.search(sentence) is None:
        return 0
    return sum(map(str.isupper, _tokenizer().tokenize(sentence)))


@functools.cache
def _tokenizer() -> Any:
    try:
        from nltk.tokenize.destructive import NLTKWordTokenizer
    except ImportError as error:
        raise ConfigError("NLTK is not installed", where="capital_word_frequency", remedy="make setup") from error
    return NLTKWordTokenizer()
