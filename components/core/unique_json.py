"""JSON whose objects have each key once: of two values under one key, nobody can tell which was meant."""

import json
from typing import Any

from components.core.errors import ContractError


class RepeatedKeyError(ContractError):
    """An object has a key twice. Where it stands is left to the caller, who knows the file and the row."""

    def located(self, where: str) -> "RepeatedKeyError":
        """The same fault at its place."""
        return RepeatedKeyError(self.what, where=where, remedy=self.remedy)


def loads(text: str | bytes) -> Any:
    """As :func:`json.loads`.

    Raises:
        RepeatedKeyError: an object has a key twice, at any depth.
        ValueError: the text is no JSON.
        RecursionError: it is nested too deep.
    """
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            break
        seen.add(key)
    raise RepeatedKeyError(
        f"an object has the key {key!r} twice", remedy="keep it once; JSON readers differ in which value they take"
    )
