"""The sets of words in ``stock.txt``."""

import functools
import re
from pathlib import Path

FILE = Path(__file__).with_name("stock.txt")


def stock(name: str) -> frozenset[str]:
    """One set. A name that is not there is a KeyError: only code asks."""
    return _sets()[name]


@functools.cache
def _sets() -> dict[str, frozenset[str]]:
    lines = [line for line in FILE.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    joined = re.sub(r"\n\s+", " ", "\n".join(lines))
    parts = (line.partition(":") for line in joined.split("\n"))
    return {name: frozenset(words.split()) for name, _, words in parts}
