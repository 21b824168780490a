"""Fast JSON that still refuses a key given twice."""

from typing import Any

import orjson

from components.core.errors import ContractError
from components.core.unique_json import RepeatedKeyError, loads

_SPACE = b" \t\r\n"


def decode(text: bytes) -> Any:
    """The value of a JSON text.

    A repeated key is proven absent by counting: each key of the text has one colon behind it, and what strings hold can
    only add to that; so as many colons as keys were read mean that none was lost. Where there are more, those that
    follow a quotation mark are counted, if none follows white space. Everything else goes the slow way, which looks at
    each object.

    Raises:
        ContractError: no JSON, or an object has a key twice.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ContractError(f"not JSON: {error}", remedy="one JSON object a line, in UTF-8") from error
    # With one brace there is one object.
    try:
        keys = len(value) if isinstance(value, dict) and text.count(b"{") == 1 else _keys(value)
    except RecursionError as error:
        raise ContractError("nested too deep", remedy="one JSON object a line, in UTF-8") from error
    if text.count(b":") == keys or (text.count(b'":') == keys and not _apart(text)):
        return value
    try:
        return loads(text)
    except RepeatedKeyError:
        raise
    except (ValueError, RecursionError) as error:
        raise ContractError(f"not JSON: {error}", remedy="one JSON object a line, in UTF-8") from error


def decode_object(text: bytes) -> dict[str, Any]:
    """As :func:`decode`, of an object.

    Raises:
        ContractError: no JSON, no object, or a key twice.
    """
    value = decode(text)
    if not isinstance(value, dict):
        raise ContractError(f"expected a JSON object, got {type(value).__name__}", remedy="one JSON object a line")
    return value


def _apart(text: bytes) -> bool:
    """Whether a colon follows white space."""
    place = text.find(b":")
    while place > 0:
        if text[place - 1] in _SPACE:
            return True
        place = text.find(b":", place + 1)
    return False


def _keys(value: object) -> int:
    """Keys of all objects in ``value``. Fewer would be safe, so lists that begin with a text are passed."""
    if isinstance(value, dict):
        count, inside = len(value), list(value.values())
    elif isinstance(value, list) and value and not isinstance(value[0], str):
        count, inside = 0, value
    else:
        return 0
    for each in inside:
        if isinstance(each, dict | list):
            count += _keys(each)
    return count
