"""What comes through the socket, taken as nothing but bytes that a hostile program chose."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Final

from components.core.text import is_text
from components.sandbox.outcome import JSON

LONGEST: Final = 4 << 20
"""Bytes of one message."""
_DEEPEST: Final = 8
_LARGEST: Final = 1 << 63


class ProtocolError(Exception):
    """What came is no call of an operator."""


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """Attributes:
    number: the program's own, for the reply.
    operator: a text, of whatever name.
    arguments: plain values; names and types are not looked at here.
    """

    number: int
    operator: str
    arguments: dict[str, JSON]


def read(data: bytes) -> Asked:
    """The call in a message.

    Raises:
        ProtocolError: there is none.
    """

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is no JSON value")

    try:
        message = json.loads(data, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a message that is no JSON: {error}"[:200]) from None
    if not isinstance(message, dict) or message.keys() != {"id", "operator", "arguments"}:
        raise ProtocolError("a message that is no call")
    number, operator, arguments = message["id"], message["operator"], message["arguments"]
    if type(number) is not int or not 0 <= number < _LARGEST or not isinstance(operator, str):
        raise ProtocolError("a call without a number or a name")
    if not isinstance(arguments, dict) or not _plain(message):
        raise ProtocolError("arguments that are nested too deep, or hold numbers too large or text that is no Unicode")
    return Asked(number, operator, arguments)


def written(number: int, told: Mapping[str, JSON]) -> bytes:
    """A reply with its length."""
    data = json.dumps({"id": number, **told}, allow_nan=False).encode("ascii")
    return len(data).to_bytes(4, "big") + data


def _plain(value: JSON) -> bool:
    level: list[JSON] = [value]
    for _ in range(_DEEPEST):
        if not all(_scalar(each) for each in level):
            return False
        keys = [key for each in level if isinstance(each, dict) for key in each]
        inner: list[JSON] = [part for each in level if isinstance(each, list) for part in each]
        inner += [part for each in level if isinstance(each, dict) for part in each.values()]
        level = [*keys, *inner]
        if not level:
            return True
    return False


def _scalar(value: JSON) -> bool:
    if isinstance(value, str):
        return is_text(value)
    if isinstance(value, float):
        return abs(value) < float("inf")
    return not isinstance(value, int) or abs(value) < _LARGEST
