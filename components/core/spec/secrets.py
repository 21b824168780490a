"""Recognises secrets, so that none is accepted from a file and none is ever printed."""

import re

_FORMS = re.compile(
    r"\bs[k]-[A-Za-z0-9_-]{8,}"  # OpenAI, DashScope, Anthropic and others
    r"|\bhf_[A-Za-z0-9]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bAIza[-\w]{30,}"
    r"|\bxox[abprs]-[-\w]{10,}"
    r"|\beyJ[-\w]{10,}\.[-\w]{10,}\."
    r"|\bBearer\s+\S{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|://[^/\s@]*:[^/\s@]+@"
)
_KEYS = re.compile(
    r"(?:^|_)(?:api_?key|apikey|access_key|access_key_id|secret|secret_key|secret_access_key|token|password|passwd|credentials?)$"
)

_NAMES = frozenset({"store_secret", "trainer_store_secret", "judge_secret"})
"""Fields that hold the name of a Kubernetes Secret."""

REDACTED = "(not shown: it looks like a secret)"


def is_secret(value: str) -> bool:
    """Whether text has the form of a key, a token or a URL with a password."""
    return _FORMS.search(value) is not None


def names_secret(key: str) -> bool:
    """Whether a field of that name would hold a secret itself (``api_key_env`` holds a name and does not)."""
    return key not in _NAMES and _KEYS.search(key.lower().replace("-", "_")) is not None


def shown(value: object, key: str = "") -> str:
    """The value as an error message may print it: short, with its YAML type, and never a secret."""
    text = str(value)
    if is_secret(text) or names_secret(key) or key == "api_key_env":
        return REDACTED
    cut = text if len(text) <= 80 else f"{text[:77]}..."
    match value:
        case None:
            return "null"
        case bool():
            return f"{cut.lower()} (true/false)"
        case int() | float():
            return cut
        case str():
            return f"{cut!r} (text)"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
    return cut
