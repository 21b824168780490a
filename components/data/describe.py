"""What data.json says about the rows of one split."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from components.data.item import Item

_MOST: Final = 40
"""Values of one tag's key that are listed; of the others only the number."""


def describe(items: Sequence[Item]) -> dict[str, object]:
    """Counts over the rows' prompts and rubrics; ``points`` are None where there is no criterion."""
    lines = [line for item in items for line in item.criteria]
    points = [line.points for line in lines]
    turns = Counter(sum(turn.role != "system" for turn in item.turns) or 1 for item in items)
    return {
        "rows_with_gold": sum(item.gold is not None for item in items),
        "rows_with_system_turn": sum(item.system is not None for item in items),
        "rows_without_line_for_the_judge": sum(
            all(line.verifier == "rule" for line in item.criteria) for item in items
        ),
        "turns": {str(number): count for number, count in sorted(turns.items())},
        "criteria_lines": {
            "all": len(lines),
            "llm": sum(line.verifier == "llm" for line in lines),
            "rule": sum(line.verifier == "rule" for line in lines),
            "penalties": sum(value < 0 for value in points),
            "points_min": min(points, default=None),
            "points_max": max(points, default=None),
            "a_row_min": min((len(item.criteria) for item in items), default=None),
            "a_row_max": max((len(item.criteria) for item in items), default=None),
        },
        "rules": dict(sorted(Counter(line.rule.name for line in lines if line.rule is not None).items())),
        "tags": _tags(Counter(tag for line in lines for tag in line.tags)),
    }


def _tags(counts: Counter[str]) -> dict[str, dict[str, int]]:
    """Key -> value -> lines; the most frequent values of each key, and how many other lines there are."""
    by_key: dict[str, Counter[str]] = {}
    for tag, count in counts.items():
        key, _, value = tag.partition(":")
        by_key.setdefault(key, Counter())[value] += count
    shown: dict[str, dict[str, int]] = {}
    for key, values in sorted(by_key.items()):
        # Ties by name, so that the file does not hang on the order of the rows.
        ordered = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
        shown[key] = dict(ordered[:_MOST])
        if rest := sum(count for _, count in ordered[_MOST:]):
            shown[key]["(others)"] = rest
    return shown
