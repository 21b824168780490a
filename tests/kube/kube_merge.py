"""How the API server joins what it is given with what it has: selectors, patches and server-side apply."""

import copy
import re
from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]
Path = tuple[str, ...]
# Lists that strategic merge joins by a key; every other list is replaced.
_KEYS = {"conditions": "type", "containers": "name", "initContainers": "name", "env": "name", "volumes": "name"}


def matches_labels(selector: str, labels: dict[str, str]) -> bool:
    """Label selectors: equality and sets."""
    for term in filter(None, (part.strip() for part in re.split(r",(?![^(]*\))", selector))):
        if found := re.fullmatch(r"(\S+)\s+(in|notin)\s+\((.*)\)", term):
            key, operator, values = found.groups()
            inside = labels.get(key) in {value.strip() for value in values.split(",")}
            if inside != (operator == "in"):
                return False
        elif found := re.fullmatch(r"([^=!\s]+)\s*(!=|==?)\s*(.*)", term):
            key, operator, value = found.groups()
            if (labels.get(key) == value) != (operator != "!="):
                return False
        elif (term.lstrip("!") in labels) != (not term.startswith("!")):
            return False
    return True


def matches_fields(selector: str, body: Object) -> bool:
    """Field selectors, on any dotted path."""
    for term in filter(None, selector.split(",")):
        key, operator, value = re.fullmatch(r"([^=!]+)(!=|==?)(.*)", term).groups()  # type: ignore[union-attr]
        found: Any = body
        for part in key.split("."):
            found = found.get(part, "") if isinstance(found, dict) else ""
        if (str(found) == value) != (operator != "!="):
            return False
    return True


def merge(old: Any, patch: Any, strategic: bool = False) -> Any:
    """JSON merge patch (RFC 7386); with ``strategic`` some lists are joined by key."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif strategic and key in _KEYS and isinstance(value, list) and isinstance(result.get(key), list):
            result[key] = _joined(result[key], value, _KEYS[key])
        else:
            result[key] = merge(result.get(key), value, strategic)
    return result


def _joined(old: list[Object], new: list[Object], key: str) -> list[Object]:
    result = {item[key]: item for item in old}
    for item in new:
        result[item[key]] = merge(result.get(item[key], {}), item, strategic=True)
    return list(result.values())


def leaves(body: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Fields as server-side apply owns them: lists are atomic here, as in most custom resources."""
    if isinstance(body, dict) and (body or not path):
        for key, value in body.items():
            yield from leaves(value, (*path, key))
    else:
        yield path, body


_UNOWNED = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


def owned(body: Object) -> dict[Path, Any]:
    """The fields that an applied object speaks of."""
    return {path: value for path, value in leaves(body) if path not in _UNOWNED}


def applied(old: Object, body: Object, before: set[Path], others: set[Path]) -> Object:
    """``old`` after apply: what the manager gave before and no longer gives goes, unless others own it too."""
    result: Object = copy.deepcopy(old)
    now = owned(body)
    for path in before - set(now) - others:
        _remove(result, path)
    for path, value in now.items():
        _put(result, path, copy.deepcopy(value))
    return result


def _put(body: Object, path: Path, value: Any) -> None:
    for part in path[:-1]:
        if not isinstance(body.get(part), dict):
            body[part] = {}
        body = body[part]
    if value != {} or not isinstance(body.get(path[-1]), dict):  # An empty map speaks of none of its fields.
        body[path[-1]] = value


def _remove(body: Object, path: Path) -> None:
    if len(path) > 1:
        inner = body.get(path[0])
        if isinstance(inner, dict):
            _remove(inner, path[1:])
            if not inner:
                del body[path[0]]
    else:
        body.pop(path[0], None)
