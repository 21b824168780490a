"""The program in a policy's response, and how it stands there. Takes time in proportion to the length."""

import dataclasses
from typing import Final

from components.workflow.contract.outcome import BrokenRule, Form, InvalidReason

LONGEST_RESPONSE: Final = 200_000
"""Characters."""
_THOUGHT_ENDS: Final = "</think>"
_LANGUAGES: Final = frozenset({"", "py", "py3", "python", "python3"})
_CLASS: Final = "class Workflow"


@dataclasses.dataclass(frozen=True, slots=True)
class Extracted:
    """Attributes:
    source: the program.
    form: how it stood.
    first: line of the response on which it begins, from 1.
    """

    source: str
    form: Form
    first: int


@dataclasses.dataclass(slots=True)
class _Block:
    language: str
    first: int
    lines: list[str]
    closed: bool = False

    @property
    def defines(self) -> bool:
        return any(line.startswith(_CLASS) for line in self.lines)


def extract(response: str) -> Extracted:
    """The last fenced block of Python that begins a class Workflow, else the last one of Python; without any fence the
    response itself, if a line of it begins that class. A block that never ends is refused, also where what is there of
    it could be run: it is not what the policy meant to write.

    Raises:
        BrokenRule: ``empty``, ``too_long``, ``no_code`` or ``unclosed_fence``.
    """
    if len(response) > LONGEST_RESPONSE:
        raise BrokenRule(
            InvalidReason.TOO_LONG, f"a response of {len(response)} characters; at most {LONGEST_RESPONSE}"
        )
    before, ended, rest = response.rpartition(_THOUGHT_ENDS)
    begin = before.count("\n") + 1 if ended else 1
    text = rest.replace("\r\n", "\n")
    if not text.strip():
        raise BrokenRule(InvalidReason.EMPTY, "the response is empty")
    blocks, others = _blocks(text)
    if not blocks:
        if not any(line.startswith(_CLASS) for line in text.split("\n")):
            raise BrokenRule(InvalidReason.NO_CODE, "there is no fenced block of Python, and no class Workflow")
        return Extracted(text, Form.BARE, begin)
    python = [block for block in blocks if block.language in _LANGUAGES]
    if not python:
        raise BrokenRule(
            InvalidReason.NO_CODE,
            f"the fenced blocks are of {', '.join(sorted({each.language[:20] for each in blocks})[:5])}, not of Python",
            begin + blocks[0].first,
        )
    chosen = ([block for block in python if block.defines] or python)[-1]
    if not chosen.closed:
        raise BrokenRule(InvalidReason.UNCLOSED_FENCE, "the fenced block never ends", begin + chosen.first)
    if not any(line.strip() for line in chosen.lines):
        raise BrokenRule(InvalidReason.NO_CODE, "the fenced block is empty", begin + chosen.first)
    form = Form.EXACT if len(blocks) == 1 and not others else Form.MIXED
    return Extracted("\n".join([*chosen.lines, ""]), form, begin + chosen.first + 1)


def _blocks(text: str) -> tuple[list[_Block], bool]:
    """The fenced blocks, with the line of each one's fence from 0; and whether there is other text."""
    found: list[_Block] = []
    fence, others = "", False
    for number, line in enumerate(text.split("\n")):
        said = line.strip(" \t")
        mark = said[:1]
        length = len(said) - len(said.lstrip(mark)) if mark and mark in "`~" else 0
        if not fence:
            told = said[length:].strip().lower()
            if length >= 3 and not (mark == "`" and mark in told):
                fence = mark * length
                found.append(_Block(told.partition(" ")[0], number, []))
            elif said:
                others = True
        elif length == len(said) and said.startswith(fence):
            fence, found[-1].closed = "", True
        else:
            found[-1].lines.append(line)
    return found, others
