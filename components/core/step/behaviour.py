"""The part of a Python source that can change what it does: comments, docstrings and blank lines of code left out."""

import io
import tokenize
from collections.abc import Container, Sequence

Place = tuple[int, int]
"""Line, from 1, and column, from 0."""

_BLANK = frozenset({tokenize.NL, tokenize.COMMENT})
_F_START = getattr(tokenize, "FSTRING_START", None)
_F_END = getattr(tokenize, "FSTRING_END", None)
_BETWEEN = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING})


def behaviour(source: bytes) -> bytes:
    """The source without comments, without strings that are statements (docstrings), and without blank lines.

    The rest is kept letter by letter, so that the outcome is the same under every version of Python.

    Args:
        source: of a module that Python can parse.
    """
    text = source.decode("utf-8-sig")
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    cuts = sorted(_cuts(tokens), reverse=True)
    inside = _inside(tokens, {start for start, _ in cuts})
    for (first, start), (last, end) in cuts:
        head, tail = lines[first - 1][:start], lines[last - 1][end:]
        lines[first - 1 : last] = [head + tail]
        lines[first:first] = [""] * (last - first)
    kept = [
        line.rstrip("\r\n") if number in inside else line.rstrip()
        for number, line in enumerate(lines, 1)
        if number in inside or line.strip()
    ]
    return "\n".join(kept).encode()


def _cuts(tokens: Sequence[tokenize.TokenInfo]) -> list[tuple[Place, Place]]:
    """Places of comments and of strings that stand alone."""
    read = [token for token in tokens if token.type != tokenize.NL]
    cuts = [(token.start, token.end) for token in read if token.type == tokenize.COMMENT]
    code = [token for token in read if token.type not in _BLANK]
    for before, token, after in zip(code, code[1:], code[2:], strict=False):
        alone = before.type in _BETWEEN and after.type == tokenize.NEWLINE
        if token.type == tokenize.STRING and alone:
            cuts.append((token.start, token.end))
    return cuts


def _inside(tokens: Sequence[tokenize.TokenInfo], cut: Container[Place]) -> set[int]:
    """Lines that end within a string that is kept; blanks at their ends, and blank ones among them, are its content."""
    inside: set[int] = set()
    begun = []
    for token in tokens:
        # Since Python 3.12 a formatted string is several tokens.
        if token.type == _F_START:
            begun.append(token.start)
        elif token.type == _F_END:
            inside.update(range(begun.pop()[0], token.end[0]))
        elif token.type == tokenize.STRING and token.start not in cut:
            inside.update(range(token.start[0], token.end[0]))
    return inside
