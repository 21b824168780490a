"""Dotted overrides of the command line: ``training.steps=5``, ``policy=tiny``."""

import dataclasses
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from components.core.spec.compose import KNOWN, REPLACED
from components.core.spec.fields import suggestion
from components.core.spec.places import Map, Mark, ReadError, Seq
from components.core.spec.problems import Problem
from components.core.spec.reader import read_text
from components.core.spec.secrets import shown


@dataclasses.dataclass(frozen=True)
class Override:
    """One parsed override.

    Attributes:
        key: the dotted key, split.
        value: what YAML makes of the text after ``=``.
        mark: says "command line" and the key, never the value.
    """

    key: tuple[str, ...]
    value: object
    mark: Mark


def parse_overrides(
    texts: Sequence[str], known: Collection[str] = KNOWN, *, inside: str = ""
) -> tuple[list[Override], list[Problem]]:
    """Parse ``key=value`` arguments; those that are none, or whose first part is not ``known``, come back as
    problems.

    Args:
        texts: the arguments.
        known: what the first part of a key may be.
        inside: the key below which an experiment's keys stand; "" where they stand at the top.
    """
    overrides: list[Override] = []
    problems: list[Problem] = []
    for text in texts:
        key, equals, value = text.partition("=")
        mark = Mark(f"command line ({key}=...)" if equals else "command line", folder=Path.cwd())
        parts = tuple(key.strip().split("."))
        if not equals or not all(parts):
            remedy = "write it like training.steps=5, without spaces"
            problems.append(Problem("", f"override {shown(text)} is not key=value", mark, remedy))
            continue
        if parts[0] not in known:
            what = f"unknown key {parts[0]!r} (value {shown(value, parts[-1])})"
            remedy = suggestion(parts[0], known)
            if inside and parts[0] in KNOWN and len(parts) > 1 and not remedy.startswith("did you mean"):
                remedy = f"the experiment's keys stand below {inside}: write {inside}.{key}=..."
            problems.append(Problem(key, what, mark, remedy))
            continue
        try:
            overrides.append(Override(parts, read_text(value, mark, lines=False), mark))
        except ReadError as error:
            remedy = "the value is read as YAML: put text with colons, braces or # into quotes"
            problems.append(Problem(key, error.what, mark, remedy))
    return overrides, problems


def apply(tree: Map, override: Override, key: tuple[str, ...]) -> list[Problem]:
    """Lay one override over ``tree`` at ``key``; missing mappings are made, so that validation names unknown keys."""
    current: Map | Seq = tree
    dotted = ".".join(override.key)
    for index, part in enumerate(key[:-1]):
        if isinstance(current, Map) and current.get(part) is None:
            current.put(part, Map({}, override.mark), override.mark)
        if problem := _position(current, part, dotted, override.mark):
            return [problem]
        following = current[int(part)] if isinstance(current, Seq) else current[part]
        if not isinstance(following, Map | Seq):
            reached = ".".join(override.key[: len(override.key) - len(key) + index + 1])
            what = f"{reached} is {shown(following)} and has no keys"
            return [Problem(dotted, what, override.mark, f"set {reached} itself")]
        current = following
    last = key[-1]
    if problem := _position(current, last, dotted, override.mark):
        return [problem]
    if isinstance(current, Seq):
        current[int(last)] = override.value
        current.marks[int(last)] = override.mark
        return []
    if last == "kind" and len(key) > 1 and key[-2] in REPLACED and current.get("kind") != override.value:
        current.clear()
    current.put(last, override.value, override.mark)
    return []


def _position(current: Map | Seq, part: str, key: str, mark: Mark) -> Problem | None:
    """What is wrong with ``part`` as a position, if ``current`` is a list."""
    if isinstance(current, Map) or (re.fullmatch("[0-9]{1,6}", part) and int(part) < len(current)):
        return None
    remedy = f"use 0 to {len(current) - 1}" if current else "write the whole list: key=[...]"
    return Problem(key, f"{part!r} is no position in a list of {len(current)}", mark, remedy)
