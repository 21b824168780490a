"""The part of a Python source that can change what it does: comments, docstrings and blank lines left out."""

import io
import tokenize

_BLANK = frozenset({tokenize.NL, tokenize.COMMENT})
_BETWEEN = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING})


def behaviour(source: bytes) -> bytes:
    """The source without comments, without strings that are statements (docstrings), and without blank lines.

    The rest is kept letter by letter, so that the outcome is the same under every version of Python.

    Args:
        source: of a module that Python can parse.
    """
    text = source.decode("utf-8-sig")
    lines = text.splitlines(keepends=True)
    cuts = sorted(_cuts(source), reverse=True)
    for (first, start), (last, end) in cuts:
        head, tail = lines[first - 1][:start], lines[last - 1][end:]
        lines[first - 1 : last] = [head + tail]
        lines[first:first] = [""] * (last - first)
    kept = (line.rstrip() for line in lines)
    return "\n".join(line for line in kept if line).encode()


def _cuts(source: bytes) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Places ((line, column), (line, column)) of comments and of strings that stand alone."""
    cuts = []
    tokens = [token for token in tokenize.tokenize(io.BytesIO(source).readline) if token.type != tokenize.NL]
    cuts += [(token.start, token.end) for token in tokens if token.type == tokenize.COMMENT]
    code = [token for token in tokens if token.type not in _BLANK]
    for before, token, after in zip(code, code[1:], code[2:], strict=False):
        alone = before.type in _BETWEEN and after.type == tokenize.NEWLINE
        if token.type == tokenize.STRING and alone:
            cuts.append((token.start, token.end))
    return cuts
