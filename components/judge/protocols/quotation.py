"""Texts of others inside a chat prompt: fenced by lines that they cannot write, and taken for nothing but text.

A fence carries a code made from the text that it encloses. Whoever writes the text would have to find one that holds a
part of its own SHA-256, so no response can close its own quotation; and equal texts make equal prompts, which caches
need. Lines that look like a fence are broken up all the same, because a judge may look at the form alone.
"""

import hashlib
import re
import unicodedata
from typing import Final

from components.judge.neutral import neutralise

_CODE: Final = 16
"""Hexadecimal digits of a code."""

_RULE: Final = re.compile(r"(==)(?==)")
_WORD: Final = re.compile(r"\w")


def fence(name: str, text: str, *context: str) -> str:
    """The text between two lines that name it.

    Args:
        name: what it is, in capital letters, such as RESPONSE.
        text: what is quoted.
        context: further texts that the code is to depend on.
    """
    safe = break_fences(neutralise(text))
    code = _code(name, safe, context)
    return f"=== {name} {code} ===\n{safe}\n=== END OF {name} {code} ==="


def break_fences(text: str) -> str:
    """The text with every line broken up that has the form of a fence: three equals signs or more beside a word. An
    underlining is left alone."""
    return "".join(_break(line) for line in text.splitlines(keepends=True))


def one_line(text: str) -> str:
    """A criterion's text as one line of a list, so that it cannot look like two."""
    return break_fences(neutralise(" ".join(text.split())))


def _break(line: str) -> str:
    plain = unicodedata.normalize("NFKC", line)
    if _RULE.search(plain) is None or _WORD.search(plain) is None:
        return line
    return _RULE.sub(r"\1 ", plain)


def _code(name: str, text: str, context: tuple[str, ...]) -> str:
    number = 0
    while True:
        parts = [name, text, *context, str(number)]
        # Lengths first, so that no two lists of texts are hashed alike.
        content = "".join(f"{len(part)}:{part}" for part in parts)
        code = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_CODE]
        if code not in text:
            return code
        number += 1
