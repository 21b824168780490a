"""What untrusted code sends, measured and made fit for a trace."""

import math
from collections.abc import Mapping
from typing import Final

from components.core.text import as_text
from components.sandbox.outcome import JSON

_PLAIN: Final = 8
"""Bytes that a value which is no text counts as."""
_LONGEST: Final = 1 << 16
"""Characters of one text in a trace."""
_MOST: Final = 64
"""Texts of a list in a trace."""


def size(values: Mapping[str, JSON]) -> int:
    """Bytes of the texts of a call, those in lists included, and a few for each other value."""
    total = 0
    for name, value in values.items():
        parts = value if isinstance(value, list) else [value]
        total += _bytes(name) + sum(_bytes(each) if isinstance(each, str) else _PLAIN for each in parts)
    return total


def shown(value: JSON) -> JSON:
    """A value that any file can hold: texts without surrogates and not over-long, and nothing nested."""
    if isinstance(value, str):
        text = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}... ({len(value)} characters)"
        return as_text(text)
    if isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            return [shown(each) for each in value[:_MOST]]
        return "a list"
    if isinstance(value, dict):
        return "a dictionary"
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return "a huge number"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
