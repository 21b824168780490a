"""A gold's text, quickly: hundreds of thousands of them are written."""

import dataclasses
import functools
from collections.abc import Hashable

import orjson

from components.tasks.gold import TaskGold, to_json


def gold_text(gold: TaskGold) -> str:
    """As :func:`components.tasks.gold.to_json`: where all letters are ASCII both ways of writing JSON agree."""
    found = {}
    for name, default in _fields(gold.__class__):
        value = getattr(gold, name)
        if default is dataclasses.MISSING or value != default:
            found[name] = value
    text = orjson.dumps(found, option=orjson.OPT_SORT_KEYS)
    return text.decode() if text.isascii() else to_json(gold)


@functools.cache
def _fields(kind: Hashable) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, field.default) for field in dataclasses.fields(kind))  # type: ignore[arg-type]
