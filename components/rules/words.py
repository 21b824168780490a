"""Rule ``word_count_range``."""

from components.judge.rule import Rule
from components.rules.finding import Finding


def count_words(text: str) -> int:
    """Words are what white space separates, as ``str.split`` has it.

    That is how the published rubric code counts (``rule_fn.py`` of hhh2210/RuscaRL), how most functions of VerInstruct
    do, and what ``wc -w`` prints: "well-known" and "don't" are one word each, and so is a dash between spaces. Scripts
    that write no spaces have no words in this sense.
    """
    return len(text.split())


def word_count_range(rule: Rule, response: str) -> Finding:
    """Whether the response has from ``min_count`` to ``max_count`` words, both included."""
    least, most = rule["min_count"], rule["max_count"]
    if not isinstance(least, int) or not isinstance(most, int):
        return Finding(None, f"the limits are no integers: {least!r}, {most!r}")
    return Finding(least <= count_words(response) <= most)
