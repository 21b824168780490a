"""The program in a model's text; no code is run or parsed here."""

import re
from typing import Final

from components.tasks.answers import without_reasoning

_FENCE: Final = re.compile(
    # Possessive, so that a fence with a million letters behind it, and no line below, is given up at once.
    r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^\n]*+\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)",
    re.M | re.S,
)
_BETWEEN: Final = re.compile(r"\[BEGIN\]\s*?\n?(.*?)(?:\[DONE\]|\Z)", re.S)
_PYTHON: Final = frozenset({"", "python", "python3", "py", "py3"})


def program_text(response: str, entry_point: str | None) -> str:
    """The source that a response answers with.

    Of fenced blocks, the last one that defines the function that is asked for, else the last that defines anything,
    else the last; a fence that never ends goes to the end. Else what stands between MBPP's ``[BEGIN]`` and ``[DONE]``.
    Else all of it, with its indentation: a completion, or bare source.

    Args:
        response: the model's text.
        entry_point: name of the function that is asked for; None when any will do.
    """
    text: str = without_reasoning(response).replace("\r\n", "\n")
    blocks: list[str] = [block for _, kind, block in _FENCE.findall(text) if kind.lower() in _PYTHON]
    if blocks:
        wanted = re.escape(entry_point) if entry_point else r"\w+"
        for pattern in (rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{wanted}\b", r"^[ \t]*(?:def|class)[ \t]+\w+"):
            if defining := [block for block in blocks if re.search(pattern, block, re.M)]:
                return defining[-1]
        return blocks[-1]
    if between := _BETWEEN.search(text):
        return str(between.group(1))
    return text
