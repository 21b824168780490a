"""Lists of sentences that changes draw from: text files beside the code, one entry a line."""

import functools
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("words")


@functools.cache
def lines(name: str) -> tuple[str, ...]:
    """The entries of ``words/NAME.txt``; empty lines, and those that begin with ``#`` and a space, are none."""
    text = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("# "))


@functools.cache
def pairs(name: str, mark: str) -> tuple[tuple[str, ...], ...]:
    """The entries of ``words/NAME.txt``, each parted at ``mark``."""
    return tuple(tuple(part.strip() for part in line.split(mark)) for line in lines(name))
