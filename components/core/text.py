"""Texts of others, which may hold half a surrogate pair: no file, table or request can be written with it."""


def is_text(value: str) -> bool:
    """Whether UTF-8 can write it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(value: str) -> str:
    """The same, with an escape such as ``\\ud800`` in the place of what UTF-8 cannot write."""
    return value.encode("utf-8", "backslashreplace").decode()
