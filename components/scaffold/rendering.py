"""Before training: the chat template must show the scaffold and change nothing else.

Qwen2.5's own template writes a default system prompt where there is none; scaffolded prompts would then lack it, and
the policy would learn under one system prompt and be evaluated under another.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from components.core.errors import ConfigError
from components.judge.verdict import Criterion
from components.scaffold.message import scaffold_message, with_scaffold

Render = Callable[[Sequence[Mapping[str, str]]], str]
"""A conversation as the policy reads it, with the opening of the assistant's turn at its end."""

_AROUND: Final = 64
"""Characters that a template may write around a system message: markers and the role's name."""


def check_rendering(
    render: Render,
    count: Callable[[str], int],
    messages: Sequence[Mapping[str, str]],
    criteria: Sequence[Criterion],
    *,
    secret: bool,
    room: int,
    row_id: str,
) -> None:
    """Compare a row's prompt with its fullest scaffold and without any.

    Args:
        render: as training and evaluation render.
        count: tokens of a rendered text.
        messages: the row's prompt.
        criteria: its rubric.
        secret: see :func:`components.scaffold.message.scaffold_message`.
        room: most tokens of a scaffolded prompt.
        row_id: for the error.

    Raises:
        ConfigError: there is no rubric to show, the two differ in more than the scaffold, or it leaves the room.
    """
    where = f"row {row_id}"
    message = scaffold_message(criteria, secret=secret)
    if message is None:
        raise ConfigError(
            "training.scaffold shows a part of the rubric, and this row has none",
            where=where,
            remedy="give the row criteria, or set training.scaffold: null",
        )
    turns = [dict(turn) for turn in messages]
    plain, scaffolded = render(turns), render(with_scaffold(turns, message))
    added = _inserted(plain, scaffolded, message)
    if added is None or len(added) > _AROUND:
        raise ConfigError(
            "with and without a scaffold the prompts differ in more than the scaffold",
            where=f"{where}: {_differing(plain, scaffolded)}",
            remedy="give the policy a chat_template that writes no system prompt of its own, such as "
            "configs/policies/chatml.jinja for Qwen2.5",
        )
    tokens = count(scaffolded)
    if tokens > room:
        raise ConfigError(
            f"the prompt with its whole rubric has {tokens} tokens, and there is room for {room}",
            where=where,
            remedy="raise training.scaffold.max_tokens",
        )


def _inserted(plain: str, scaffolded: str, message: str) -> str | None:
    """What stands around the message where it was put in; None if the rest is not the plain text."""
    start = scaffolded.find(message)
    if start < 0 or scaffolded.find(message, start + 1) >= 0:
        return None
    before, after = scaffolded[:start], scaffolded[start + len(message) :]
    head = _common(plain, before)
    tail = _common(plain[head:][::-1], after[::-1])
    if head + tail != len(plain):
        return None
    return before[head:] + after[: len(after) - tail]


def _common(one: str, other: str) -> int:
    """Length of the common beginning."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _differing(plain: str, scaffolded: str) -> str:
    place = _common(plain, scaffolded)
    return f"plain goes on with {plain[place : place + 60]!r}, scaffolded with {scaffolded[place : place + 60]!r}"
