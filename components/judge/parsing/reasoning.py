"""What a model thought aloud is no answer: it is dropped before verdicts are looked for."""

import re
from typing import Final, NamedTuple

_NAMES: Final = "think|thinking|thought|thoughts|reasoning|reason|reflection|analysis|scratchpad|seed:think"
_OPEN: Final = rf"<(?:{_NAMES})\s*>|◁think▷|\[THINK\]"
_CLOSE: Final = rf"</\s*(?:{_NAMES})\s*>|◁/think▷|\[/THINK\]"
# No space behind the first character: so the marks of a quoted text stand in a prompt, and in a quotation of it.
_MARK: Final = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)

_CHANNEL: Final = re.compile(r"<\|channel\|>\s*+(\w++)[^<]*+<\|message\|>")
"""The start of a message in the Harmony format of gpt-oss; ``final`` is the channel of the answer."""


class Spoken(NamedTuple):
    """A reply without reasoning.

    Attributes:
        text: what is left.
        unfinished: the reasoning was still going on when the reply ended.
    """

    text: str
    unfinished: bool


def drop_reasoning(reply: str) -> Spoken:
    """Remove every reasoning span.

    A span that is never closed reaches to the end. A closing mark without an opening one ends a span that began in the
    prompt, as some chat templates have it, so all before it goes. Spans do not nest: a model that mentions the opening
    mark while it thinks has not begun a second thought.
    """
    text, unfinished = _final_channel(reply)
    kept: list[str] = []
    place = 0
    inside = False
    for mark in _MARK.finditer(text):
        if mark["close"]:
            if not inside:
                kept = []
            inside = False
            place = mark.end()
        elif not inside:
            kept.append(text[place : mark.start()])
            inside = True
    if inside:
        return Spoken("".join(kept), True)
    return Spoken("".join([*kept, text[place:]]), unfinished)


def _final_channel(reply: str) -> tuple[str, bool]:
    messages = list(_CHANNEL.finditer(reply))
    if not messages:
        return reply, False
    last = messages[-1]
    if last[1] != "final":
        return "", True
    return re.split(r"<\|(?:end|return|start|channel)\|>", reply[last.end() :], maxsplit=1)[0], False
