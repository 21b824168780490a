"""Puts pydantic's findings into words that a user can act on."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from components.core.spec.base import ConflictError
from components.core.spec.fields import field_at, kinds, model_at, purpose, suggestion
from components.core.spec.patterns import WORDS
from components.core.spec.places import Map
from components.core.spec.problems import Problem, dotted, mark_of
from components.core.spec.secrets import shown


def problems_of(
    error: ValidationError, model: type[BaseModel], tree: Map, prefix: tuple[str, ...] = ()
) -> list[Problem]:
    """Translate pydantic's findings on ``tree`` (the data of ``model``); ``prefix`` is put before keys."""
    problems: list[Problem] = []
    for found in error.errors(include_url=False):
        if found["type"] == "too_short" and len(found["input"]) >= found["ctx"]["min_length"]:
            # Its items are wrong, each told for itself; pydantic counts those that are left.
            continue
        key = _without_tags(found["loc"], tree)
        if found["type"] == "union_tag_invalid":
            key = (*key, "kind")
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, ConflictError):
            for conflict in cause.conflicts:
                path = (*key, *(int(part) if part.isdigit() else part for part in conflict.key.split(".")))
                problems.append(Problem(dotted(prefix + path), conflict.what, mark_of(tree, path), conflict.remedy))
            continue
        what, remedy = _explain(found, key, model, tree)
        problems.append(Problem(dotted(prefix + key), what, mark_of(tree, key), remedy))
    return problems


def _without_tags(location: tuple[int | str, ...], tree: Map) -> tuple[int | str, ...]:
    """Pydantic puts a union's tag (``hub``) into the location, right after ``source``; the user wrote none there."""
    key: list[int | str] = []
    skip = False
    for part in location:
        if skip:
            skip = False
            continue
        key.append(part)
        value = _value(tree, key)
        following = location[len(key) : len(key) + 1]
        skip = part == "source" and isinstance(value, dict) and bool(following) and following[0] == value.get("kind")
    return tuple(key)


def _value(tree: Any, key: Iterable[int | str]) -> Any:
    for part in key:
        inside = part in tree if isinstance(tree, dict) else isinstance(tree, list) and part in range(len(tree))
        if not inside:
            return None
        tree = tree[part]
    return tree


_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "model_attributes_type": "a mapping",
    "finite_number": "a finite number",
}
_BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
}


def _explain(found: Any, key: tuple[int | str, ...], model: type[BaseModel], tree: Map) -> tuple[str, str]:
    kind, context = found["type"], found.get("ctx", {})
    name = str(key[-1]) if key else ""
    value = shown(found["input"], name)
    doc = purpose(field_at(model, key, tree))
    if kind == "extra_forbidden":
        owner = model_at(model, key[:-1], tree)
        return f"unknown key {name!r} (value {value})", suggestion(name, owner.model_fields if owner else ())
    if kind == "missing":
        return "this key is missing", f"add it. {doc}"
    if kind in _KINDS:
        return f"{value} is not {_KINDS[kind]}", _type_remedy(kind, found["input"], doc)
    if kind in _BOUNDS:
        bound, word = _BOUNDS[kind]
        return f"{value} is out of range: it must be {word} {context[bound]}", doc
    if kind == "too_short":
        least = context["min_length"]
        told = f"{least} entr{'y' if least == 1 else 'ies'} at least"
        return f"{'an empty list' if not found['input'] else value} is too short: it takes {told}", doc
    if kind == "too_long":
        return f"{len(found['input'])} entries are too many: it takes {context['max_length']} at most", doc
    if kind == "literal_error":
        return f"{value} is not allowed", f"use {context['expected']}. {doc}"
    if kind == "union_tag_invalid":
        return f"{shown(context['tag'])} is no kind of model source", f"set kind to one of {context['expected_tags']}"
    if kind == "union_tag_not_found":
        *others, last = kinds(field_at(model, key, tree))
        return "a model source needs its kind", f"add kind: {', '.join(others)} or {last}"
    if kind == "string_pattern_mismatch":
        return f"{value} is not allowed", _pattern_remedy(name, context["pattern"], doc)
    if kind == "json_invalid":
        return f"not valid JSON: {context['error']}", "pass what Experiment.to_json wrote"
    return f"{value}: {found['msg']}", doc or "correct the value"


def _type_remedy(kind: str, value: object, doc: str) -> str:
    if isinstance(value, str) and kind.startswith(("int", "float")):
        try:
            float(value.replace("_", ""))
        except ValueError:
            pass
        else:
            return f"write {value.replace('_', '')} without quotes or underscores. {doc}"
    if kind.startswith("bool"):
        return f"write true or false, without quotes. {doc}"
    if kind == "string_type" and isinstance(value, bool | int | float):
        return f"put it into quotes. {doc}"
    return doc or "correct the type"


def _pattern_remedy(name: str, pattern: str, doc: str) -> str:
    if name == "api_key_env":
        return (
            "give the NAME of an environment variable (capital letters, digits, underscores), never the key; "
            "revoke the key if the file was shared"
        )
    return f"{WORDS.get(pattern, f'it must match {pattern}')}. {doc}"
