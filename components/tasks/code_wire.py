"""Values between the tests and the code under test, as JSON text: copies of plain values, numbers for all else.

Runs inside the sandbox on both sides; standard library alone. What comes out of :class:`Reader` is of a built-in type
or one of a few of the standard library, never of a class that the other side defined: its ``==`` and all its other
methods are Python's own. Anything else crosses as a number that only the side which owns the object can use.
"""

import array
import collections
import datetime
import decimal
import fractions
import json
import uuid
from collections.abc import Callable
from os import read, write
from typing import Any, Final

LONGEST: Final = 8 << 20
"""Bytes of one message."""
_DEEPEST: Final = 200
_MOST: Final = 1_000_000
"""Parts of one value."""
_LONGEST_INT: Final = 1 << 20
"""Hexadecimal digits."""
_LONGEST_RANGE: Final = 10_000_000
"""So that few bytes do not become a list that nobody can hold."""
_EXACT: Final = 1 << 63
_TYPES: Final[tuple[type, ...]] = (
    *(bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, object, type),
    *(decimal.Decimal, fractions.Fraction, datetime.date, datetime.datetime, datetime.time, datetime.timedelta),
    *(collections.Counter, collections.OrderedDict, collections.deque, collections.defaultdict),
)
_FUNCTIONS: Final[tuple[Callable[..., Any], ...]] = (
    *(abs, all, any, bin, callable, chr, divmod, enumerate, filter, hash, hex, isinstance, iter, len, map, max, min),
    *(next, oct, ord, pow, print, repr, reversed, round, slice, sorted, sum, zip),
)
NAMED: Final[dict[str, Any]] = {str(getattr(each, "__name__", "")): each for each in (*_TYPES, *_FUNCTIONS)}
"""What both sides have, and call by its name."""
_NAMES: Final = {id(each): name for name, each in NAMED.items()}


class GoneError(BaseException):
    """The other side ended, or closed its socket."""


class SpoiledError(BaseException):
    """What came is no message, or larger than one may be. Nothing that follows can be believed."""


class UnfitError(Exception):
    """A value that is too large or too deep, or that refers to itself."""


class Link:
    """Messages over a descriptor: their length in 4 bytes, and JSON."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, message: object) -> None:
        """Raises: GoneError, or UnfitError before anything was sent."""
        data = json.dumps(message, separators=(",", ":")).encode()
        if len(data) > LONGEST:
            raise UnfitError(f"a value of {len(data)} bytes; at most {LONGEST}")
        left = memoryview(len(data).to_bytes(4, "big") + data)
        try:
            while left:
                left = left[write(self._descriptor, left) :]
        except OSError as error:
            raise GoneError(str(error)) from None

    def receive(self) -> dict[str, Any]:
        """Raises: GoneError; SpoiledError."""
        size = int.from_bytes(self._exactly(4), "big")
        if size > LONGEST:
            raise SpoiledError(f"a message of {size} bytes; at most {LONGEST}")
        try:
            message = json.loads(self._exactly(size))
        except (ValueError, RecursionError) as error:
            raise SpoiledError(f"a message that is no JSON: {error}"[:200]) from None
        if not isinstance(message, dict):
            raise SpoiledError("a message that is no object")
        return message

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = read(self._descriptor, min(size, 1 << 20))
            except OSError as error:
                raise GoneError(str(error)) from None
            if not part:
                raise GoneError("its socket was closed")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class Writer:
    """Plain values as JSON has them.

    Args:
        other: what stands for an object that is no plain value.
    """

    def __init__(self, other: Callable[[Any], list[Any]]) -> None:
        self._other = other
        self._left = 0

    def __call__(self, value: Any) -> Any:
        """Raises: UnfitError; what ``other`` raises."""
        self._left = _MOST
        return self._write(value, 0)

    def _write(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise UnfitError(f"a value of more than {_MOST} parts, or nested deeper than {_DEEPEST}, or in itself")
        kind = type(value)
        if value is None or kind is bool or kind is str or kind is float:
            return value
        if kind is int:
            return value if -_EXACT < value < _EXACT else ["i", hex(value)]
        # Of a subclass what its base class has, read by the base class's own methods.
        for base, tag, parts in _PLAIN:
            if issubclass(kind, base):
                found = parts(value)
                return [tag, *(self._write(part, depth + 1) for part in found)] if tag else self._write(found, depth)
        if id(value) in _NAMES and NAMED[_NAMES[id(value)]] is value:
            return ["n", _NAMES[id(value)]]
        return self._other(value)


def _pairs(value: Any) -> list[Any]:
    return [part for pair in dict.items(value) for part in pair]


def _date(value: Any) -> list[Any]:
    return [value.year, value.month, value.day]


def _time(value: Any) -> list[Any]:
    return [value.hour, value.minute, value.second, value.microsecond, value.fold]


def _zone(value: Any) -> list[Any]:
    offset = value.utcoffset()
    return [None if offset is None else offset]


_PLAIN: Final[tuple[tuple[type, str, Callable[[Any], Any]], ...]] = (
    (int, "", int.__int__),
    (float, "", float.__float__),
    (str, "", str.__str__),
    (list, "l", list.__iter__),
    (tuple, "t", tuple.__iter__),
    (collections.Counter, "C", _pairs),
    (collections.OrderedDict, "O", lambda value: [part for key in [*value] for part in (key, dict.get(value, key))]),
    (dict, "d", _pairs),
    (set, "s", set.__iter__),
    (frozenset, "f", frozenset.__iter__),
    (bytes, "b", lambda value: [bytes.decode(value, "latin-1")]),
    (bytearray, "B", lambda value: [bytearray.decode(value, "latin-1")]),
    (complex, "c", lambda value: [complex.real.__get__(value), complex.imag.__get__(value)]),
    (range, "r", lambda value: [value.start, value.stop, value.step]),
    (slice, "S", lambda value: [value.start, value.stop, value.step]),
    (collections.deque, "q", lambda value: [value.maxlen, *collections.deque.__iter__(value)]),
    (decimal.Decimal, "D", lambda value: [decimal.Decimal.__str__(value)]),
    (fractions.Fraction, "F", lambda value: [value.numerator, value.denominator]),
    (datetime.datetime, "T", lambda value: [*_date(value), *_time(value), *_zone(value)]),
    (datetime.date, "Y", _date),
    (datetime.time, "H", lambda value: [*_time(value), *_zone(value)]),
    (datetime.timedelta, "L", lambda value: [value.days, value.seconds, value.microseconds]),
    (datetime.timezone, "Z", lambda value: [value.utcoffset(None)]),
    (array.array, "A", lambda value: [value.typecode, *value.tolist()]),
    (uuid.UUID, "U", lambda value: [value.hex]),
    (type({}.keys()), "k", iter),
    (type({}.values()), "v", iter),
    (type({}.items()), "m", iter),
    (type(NotImplemented), "N", lambda value: []),
    (type(...), "E", lambda value: []),
)


_NO_VALUE: Final = (
    *(ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError, MemoryError),
)


class Reader:
    """Plain values from JSON.

    Args:
        other: the object that a list with an unknown first element stands for.
    """

    def __init__(self, other: Callable[[list[Any]], Any]) -> None:
        self._other = other
        self._left = 0

    def __call__(self, told: Any) -> Any:
        """Raises: SpoiledError, also for what a Writer would not take, so that all that is read can be given back; what
        ``other`` raises."""
        self._left = _MOST
        try:
            return self._read(told, 0)
        except _NO_VALUE as error:
            raise SpoiledError(f"no value: {error}"[:200]) from None

    def _read(self, told: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise ValueError("too many parts, or nested too deep")
        if type(told) is not list:
            if type(told) is dict:
                raise ValueError("an object")
            return told
        tag, parts = told[0], told[1:]
        if type(tag) is not str:
            raise ValueError("a list without a kind")
        if (make := _MAKE.get(tag)) is not None:
            return make([self._read(part, depth + 1) for part in parts])
        return self._other(told)


def _ints(parts: list[Any]) -> list[int]:
    if not all(type(part) is int for part in parts):
        raise ValueError("not whole numbers")
    return parts


def _mapping(kind: type) -> Callable[[list[Any]], Any]:
    def make(parts: list[Any]) -> Any:
        found = kind()
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            dict.__setitem__(found, key, value) if kind is not collections.OrderedDict else found.__setitem__(
                key, value
            )
        return found

    return make


def _range(parts: list[int]) -> range:
    found = range(*parts)
    if len(found) > _LONGEST_RANGE:
        raise ValueError(f"a range of {len(found)} numbers")
    return found


def _text(parts: list[Any], most: int = LONGEST) -> str:
    (text,) = parts
    if type(text) is not str or len(text) > most:
        raise ValueError("no text, or one that is too long")
    return text


def _decimal(parts: list[Any]) -> decimal.Decimal:
    return decimal.Decimal(_text(parts))


def _moment(parts: list[Any]) -> datetime.datetime:
    *numbers, fold, offset = parts
    zone = None if offset is None else datetime.timezone(offset)
    return datetime.datetime(*_ints(numbers), fold=fold, tzinfo=zone)  # type: ignore[misc, arg-type]


def _hour(parts: list[Any]) -> datetime.time:
    *numbers, fold, offset = parts
    return datetime.time(*_ints(numbers), fold=fold, tzinfo=None if offset is None else datetime.timezone(offset))  # type: ignore[misc, arg-type]


_MAKE: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "i": lambda parts: int(_text(parts, _LONGEST_INT), 16),
    "l": list,
    "t": tuple,
    "C": _mapping(collections.Counter),
    "O": _mapping(collections.OrderedDict),
    "d": _mapping(dict),
    "s": set,
    "f": frozenset,
    "b": lambda parts: _text(parts).encode("latin-1"),
    "B": lambda parts: bytearray(_text(parts).encode("latin-1")),
    "c": lambda parts: complex(float(parts[0]), float(parts[1])),
    "r": lambda parts: _range(_ints(parts)),
    "S": lambda parts: slice(*parts),
    "q": lambda parts: collections.deque(parts[1:], parts[0]),
    "D": _decimal,
    "F": lambda parts: fractions.Fraction(*_ints(parts)),
    "T": _moment,
    "Y": lambda parts: datetime.date(*_ints(parts)),
    "H": _hour,
    "L": lambda parts: datetime.timedelta(*_ints(parts)),
    "Z": lambda parts: datetime.timezone(*parts),
    "A": lambda parts: array.array(parts[0], parts[1:]),
    "U": lambda parts: uuid.UUID(hex=_text(parts)),
    "k": lambda parts: dict.fromkeys(parts).keys(),
    "v": lambda parts: dict(enumerate(parts)).values(),
    "m": lambda parts: dict(parts).items(),
    "N": lambda parts: NotImplemented,
    "E": lambda parts: ...,
    "n": lambda parts: NAMED[_text(parts)],
}
