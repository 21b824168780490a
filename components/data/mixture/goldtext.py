"""A gold's text, quickly: hundreds of thousands of them are written."""

import dataclasses

import orjson

from components.tasks.gold import TaskGold, to_json

_Fields = tuple[tuple[str, object], ...]
_KNOWN: dict[type, _Fields] = {}
"""By the gold's class: looking at its fields takes longer than writing them."""


def gold_text(gold: TaskGold) -> str:
    """As :func:`components.tasks.gold.to_json`: where all letters are ASCII both ways of writing JSON agree."""
    found = {}
    for name, default in _KNOWN.get(gold.__class__) or _fields(gold):
        value = getattr(gold, name)
        if default is dataclasses.MISSING or value != default:
            found[name] = value
    text = orjson.dumps(found, option=orjson.OPT_SORT_KEYS)
    return text.decode() if text.isascii() else to_json(gold)


def _fields(gold: TaskGold) -> _Fields:
    found = tuple((field.name, field.default) for field in dataclasses.fields(gold))
    _KNOWN[gold.__class__] = found
    return found
