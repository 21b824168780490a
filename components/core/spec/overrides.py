"""Dotted overrides of the command line: ``training.steps=5``, ``policy=tiny``."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from components.core.spec.compose import REPLACED
from components.core.spec.experiment import PARTS
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


def parse_overrides(texts: Sequence[str]) -> tuple[list[Override], list[Problem]]:
    """Parse ``key=value`` arguments; those that are none come back as problems."""
    overrides: list[Override] = []
    problems: list[Problem] = []
    for text in texts:
        key, equals, value = text.partition("=")
        mark = Mark(f"command line ({key}=...)" if equals else "command line", folder=Path.cwd())
        parts = tuple(key.strip().split("."))
        if not equals or not all(parts):
            problems.append(
                Problem(
                    "",
                    f"override {shown(text)} is not key=value",
                    mark,
                    "write it like training.steps=5, without spaces",
                )
            )
        elif parts[0] not in ("name", "seed", *PARTS):
            known = ("name", "seed", *PARTS)
            problems.append(Problem(key, f"unknown key {parts[0]!r}", mark, suggestion(parts[0], known)))
        else:
            try:
                overrides.append(Override(parts, read_text(value, mark, lines=False), mark))
            except ReadError as error:
                remedy = "the value is read as YAML: put text with colons, braces or # into quotes"
                problems.append(Problem(key, error.what, mark, remedy))
    return overrides, problems


def apply(tree: Map, override: Override, key: tuple[str, ...]) -> Problem | None:
    """Lay one override over ``tree`` at ``key``; missing mappings are made, so that validation names unknown keys."""
    current: Map | Seq = tree
    dotted = ".".join(override.key)
    for index, part in enumerate(key):
        last = index == len(key) - 1
        if isinstance(current, Seq):
            if not part.isdigit() or int(part) >= len(current):
                remedy = f"use 0 to {len(current) - 1}" if current else "write the whole list: key=[...]"
                return Problem(dotted, f"{part!r} is no position in a list of {len(current)}", override.mark, remedy)
            position = int(part)
            if last:
                current[position] = override.value
                current.marks[position] = override.mark
                return None
            following = current[position]
        else:
            if last:
                if part == "kind" and index and key[index - 1] in REPLACED and current.get("kind") != override.value:
                    current.clear()
                current.put(part, override.value, override.mark)
                return None
            if current.get(part) is None:
                current.put(part, Map({}, override.mark), override.mark)
            following = current[part]
        if not isinstance(following, Map | Seq):
            reached = ".".join(override.key[: len(override.key) - len(key) + index + 1])
            return Problem(
                dotted, f"{reached} is {shown(following)} and has no keys", override.mark, f"set {reached} itself"
            )
        current = following
    return None
