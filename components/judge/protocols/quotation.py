"""Texts of others inside a chat prompt: fenced by lines that they cannot write, and taken for nothing but text.

A fence carries a code made from the text that it encloses. Whoever writes the text would have to find one that holds a
part of its own SHA-256, so no response can close its own quotation; and equal texts make equal prompts, which caches
need. Lines that look like a fence are broken up all the same, because a judge may look at the form alone.
"""

import functools
import hashlib
import re
from typing import Final

from components.judge.neutral import neutralise

VERSION: Final = 1
"""Raised when the same text comes to stand otherwise in a prompt; part of every protocol's version."""

_CODE: Final = 16
"""Hexadecimal digits of a code."""

_SIGNS: Final = {
    **dict.fromkeys("=\uff1d\ufe66\u207c\u208c\ua78a\u2550\u30a0\u2e40\u1400\ua4ff\U0001f7f0\u2261\u2263\u3013", 1),
    "\u2a75": 2,
    "\u2a76": 3,
}
"""Characters that are an equals sign or look like one, and how many each stands for."""

_UNSEEN: Final = (
    r"\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
_MARKS: Final = r"\u0300-\u036f\u20d0-\u20ff"
"""What shows nothing of its own, and marks upon the character before."""

_RULE: Final = re.compile(rf"[{''.join(_SIGNS)}][{''.join(_SIGNS)}{_UNSEEN}{_MARKS}]*")
_LONG: Final = re.compile(rf"\u2a75|\u2a76|(?:[{''.join(_SIGNS)}][{_UNSEEN}{_MARKS}]*){{3}}")
_DRESS: Final = rf"[\s>*#`~_|\"'\-{_UNSEEN}{_MARKS}]*"
_BEGINS: Final = re.compile(_DRESS)
_END: Final = re.compile(rf"{_DRESS}$")
_CLOSING: Final = re.compile(rf"[\s{_UNSEEN}{_MARKS}]*e[\W_]*n[\W_]*d[\W_]*o[\W_]*f", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")


def fence(name: str, text: str, *context: str) -> str:
    """The text between two lines that name it.

    Args:
        name: what it is, in capital letters, such as RESPONSE.
        text: what is quoted; it stands there as :func:`shown` gives it.
        context: further texts that the code is to depend on.
    """
    safe = shown(text)
    code = _code(name, safe, context)
    return f"=== {name} {code} ===\n{safe}\n=== END OF {name} {code} ==="


@functools.lru_cache(maxsize=1024)
def shown(text: str) -> str:
    """A text as a judge sees it: no control tokens, nothing like a fence, and no half characters. The newest texts are
    remembered, because a rubric's criteria ask about the same ones again and again."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return break_fences(neutralise(whole))


def break_fences(text: str) -> str:
    """The text with every line broken up that has the form of a fence: three equals signs or more that begin or end a
    line with words, or stand before END OF. An underlining, and ``a === b`` in a program, are left alone."""
    if _LONG.search(text) is None:
        return text
    return "".join(_break(line) for line in text.splitlines(keepends=True))


def one_line(text: str) -> str:
    """A criterion's text as one line of a list, so that it cannot look like two."""
    return shown(" ".join(text.split()))


def _break(line: str) -> str:
    rules = [found for found in _RULE.finditer(line) if _signs(found[0]) >= 3]
    if not rules or _WORD.search(_RULE.sub("", line)) is None:
        return line
    begun = _BEGINS.match(line)
    first, last = rules[0], rules[-1]
    at_edge = (begun is not None and begun.end() >= first.start()) or _END.match(line, last.end()) is not None
    if not at_edge and not any(_CLOSING.match(line, rule.end()) for rule in rules):
        return line
    return _RULE.sub(_parted, line)


def _signs(rule: str) -> int:
    return sum(_SIGNS.get(char, 0) for char in rule)


def _parted(rule: re.Match[str]) -> str:
    """``=====`` as ``== == =``."""
    count = _signs(rule[0])
    if count < 3:
        return rule[0]
    return " ".join("=" * min(2, count - start) for start in range(0, count, 2))


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
