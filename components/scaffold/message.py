"""The scaffold as a system message."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from components.judge.neutral import neutralise
from components.judge.verdict import Criterion

TEMPLATE: Final = Path(__file__).with_name("scaffold.txt")
_PART: Final = re.compile(r"^--- (include|avoid|end|secret)$", re.MULTILINE)


def scaffold_message(criteria: Sequence[Criterion], *, secret: bool) -> str | None:
    """What the policy is told; None when no criterion is shown.

    Args:
        criteria: those that are shown, in order: positive ones as things to do, negative ones as things to avoid.
        secret: whether to ask that the requirements stay unmentioned.
    """
    if not criteria:
        return None
    head, *rest = _PART.split(TEMPLATE.read_text(encoding="utf-8"))
    parts = {name: text.strip() for name, text in zip(rest[0::2], rest[1::2], strict=True)}
    said = [head.strip()]
    for name, lines in (
        ("include", [_line(each) for each in criteria if each.points > 0]),
        ("avoid", [_line(each) for each in criteria if each.points < 0]),
    ):
        if lines:
            said.append(parts[name].replace("{lines}", "\n".join(lines)))
    said.append(parts["end"])
    if secret:
        said.append(parts["secret"])
    return "\n\n".join(said)


def with_scaffold(messages: Sequence[dict[str, str]], scaffold: str | None) -> list[dict[str, str]]:
    """The conversation with the scaffold in front; joined with a system message that stands there already, because
    chat templates take one at most."""
    turns = list(messages)
    if scaffold is None:
        return turns
    if turns and turns[0]["role"] == "system":
        first = {**turns[0], "content": f"{scaffold}\n\n{turns[0]['content']}"}
        return [first, *turns[1:]]
    return [{"role": "system", "content": scaffold}, *turns]


def _line(criterion: Criterion) -> str:
    text = neutralise(" ".join(criterion.text.split()))
    points = abs(criterion.points)
    unit = "point" if points == 1 else "points"
    kind = f"{points:g} {unit}" if criterion.points > 0 else f"costs {points:g} {unit}"
    return f"- {text} ({kind})"
