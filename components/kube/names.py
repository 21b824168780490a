"""Names and label values that Kubernetes accepts, made from any text.

A text that needs no change stays as it is. A changed or cut one ends in a hash of the original, so that different
texts do not meet in one name.
"""

import hashlib
import re

_HASH = 8
_LABEL_LIMIT = 63
_PREFIX = "g-"


def label_value(text: str) -> str:
    """A label value: at most 63 of ``[A-Za-z0-9._-]``, beginning and ending with a letter or digit; "" for ""."""
    return _fitted(text, re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._"), _LABEL_LIMIT, "")


def object_name(*parts: str, limit: int = _LABEL_LIMIT) -> str:
    """A name of at most ``limit`` characters that is a DNS-1123 label and begins with a letter.

    The letter is what KServe and the Services made from a name want (DNS-1035).

    Raises:
        ValueError: there is nothing to make a name from, or ``limit`` leaves no room for a hash.
    """
    text = "-".join(parts)
    if not text or limit <= _HASH + len(_PREFIX):
        raise ValueError(f"no name of at most {limit} characters from {parts!r}")
    name = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")
    return _fitted(text, name if name[:1].isalpha() else f"{_PREFIX}{name}".strip("-"), limit, "g")


def _fitted(text: str, cleaned: str, limit: int, bare: str) -> str:
    """``cleaned``, or as much of it as fits with a hash of ``text`` where they differ or it's too long."""
    if cleaned == text and len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    stem = cleaned[: limit - _HASH - 1].rstrip("-._") or bare
    return f"{stem}-{digest}" if stem else digest
