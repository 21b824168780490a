"""The code's objects as the tests have them, and the asking of the other side for what is done to them.

Runs inside the sandbox of the tests. An object of a class of the code's own is a :class:`Handle`: no value of the tests
is ever shown to it for a comparison, so that it cannot agree with what it does not know.
"""

import builtins
import signal
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

from components.tasks.code_wire import GoneError, Link, Reader, SpoiledError, UnfitError, Writer

TESTS: Final = "<tests>"
"""Name of the file that the tests' code says it is from."""
_MOST_HANDLES: Final = 100_000
_DECODING_SECONDS: Final = 5.0
_VALUE_METHODS: Final = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, complex)
    for name in dir(kind)
    if not name.startswith("_")
)
"""What tests ask of built-in values: nothing that only looks like one answers it, since the question may tell the
expected answer."""


_NUMBER: Final = frozenset({"int", "float", "complex", "index"})


class UnsuitedError(BaseException):
    """The tests need what this way of running them does not have."""


class Handle:
    """An object on the other side."""

    __slots__ = ("_gavel",)

    def __init__(self, other: "Other", number: int, kind: str, *, made: bool) -> None:
        object.__setattr__(self, "_gavel", (other, number, kind, made))

    def __getattr__(self, name: str) -> Any:
        other, _, _, made = self._gavel
        if name in _VALUE_METHODS and not made:
            raise AttributeError(f"the code's answer is of a class of its own, and is asked for {name!r}")
        return other.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._gavel[0].ask("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._gavel[0].ask("delattr", self, name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._gavel[0].call(self, arguments, named, sys._getframe(1))

    def __bool__(self) -> bool:
        return bool(self._gavel[0].ask("bool", self))

    def __hash__(self) -> int:
        return hash(self._gavel[0].ask("hash", self))

    def __iter__(self) -> Any:
        return iter(_Iteration(self._gavel[0].ask("iter", self)))

    def __next__(self) -> Any:
        return self._gavel[0].ask("next", self)

    def __instancecheck__(self, instance: Any) -> bool:
        return type(instance) is Handle and self._gavel[0].ask("isinstance", instance, self) is True

    def __enter__(self) -> Any:
        return self._gavel[0].ask("enter", self)

    def __exit__(self, *_: object) -> None:
        self._gavel[0].ask("leave", self)


class _Iteration:
    """What ``iter`` gave on the other side, whose answer may also be a plain value."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[Any]:
        if type(self._inner) is Handle:
            return self
        return iter(self._inner)

    def __next__(self) -> Any:
        return next(self._inner)


def _alone(what: str, kind: type | None) -> Callable[..., Any]:
    def method(self: Handle, *more: Any) -> Any:
        other, number, _, made = self._gavel
        if what in _NUMBER and not made:
            # One number for good: an answer that is another number each time solves any equation term by term.
            if (number, what) not in other.numbers:
                other.numbers[number, what] = other.ask(what, self)
            found = other.numbers[number, what]
        else:
            found = other.ask(what, self, *more)
        if kind is not None and type(found) is not kind:
            raise TypeError(f"{what} gave a {type(found).__name__}")
        return found

    return method


def _together(what: str, *, reflected: bool = False) -> Callable[[Handle, Any], Any]:
    def method(self: Handle, other: Any) -> Any:
        if type(other) is not Handle:
            return NotImplemented
        return self._gavel[0].ask(what, other, self) if reflected else self._gavel[0].ask(what, self, other)

    return method


for _name in ("len", "repr", "str", "int", "float", "complex", "index", "format"):
    _kinds = {"repr": str, "format": str, "len": int, "index": int}
    setattr(Handle, f"__{_name}__", _alone(_name, _kinds.get(_name, getattr(builtins, _name, None))))
for _name in ("abs", "neg", "pos", "invert", "round", "reversed", "getitem", "setitem", "delitem"):
    setattr(Handle, f"__{_name}__", _alone(_name, None))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Handle, f"__{_name}__", _together(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "divmod", "pow", "lshift", "rshift", "xor"):
    setattr(Handle, f"__{_name}__", _together(_name))
for _name in ("and", "or"):
    setattr(Handle, f"__{_name}__", _together(f"{_name}_"))


class Other:
    """The other side, as the tests reach it.

    Args:
        link: to it.
        quiet: lines of the tests that are assertions: a call in one of these that returns something leaves what it
            was given as it was, so that no assertion is about what the code made of the test's own values.
    """

    def __init__(self, link: Link, quiet: frozenset[int]) -> None:
        self._link = link
        self._quiet = quiet
        self._handles: dict[int, Handle] = {}
        self._errors: dict[int, type[BaseException]] = {}
        self._numbers: dict[type, int] = {}
        self._given: list[Callable[..., Any]] = []
        self._writer = Writer(self._tell)
        self._reader = Reader(self._object)
        self._making = False
        self.classes: frozenset[str] = frozenset()
        self.numbers: dict[tuple[int, str], Any] = {}
        self.stops = False
        """Whether the tests name StopIteration, which may then leave a call."""
        self.answered = 0
        self.broken: BaseException | None = None

    def load(self, parts: list[Any]) -> None:
        """Raises: what the code raises when it is loaded."""
        self.ask("load", *parts)

    def name(self, name: str) -> tuple[bool, Any]:
        """Whether the code has a global name, and what it is."""
        found = self.ask("name", name)
        if type(found) is not list or len(found) != 2:
            raise self._spoiled("an answer of another kind")
        value = found[1]
        if type(value) is Handle and name in self.classes and value._gavel[2] == "class":
            object.__setattr__(value, "_gavel", (*value._gavel[:3], True))
        return found[0] is True, value

    def ask(self, what: str, *arguments: Any) -> Any:
        """One thing done on the other side."""
        return self._asked({"do": what, "a": [self._told(each) for each in arguments]})[0]

    def call(self, handle: Handle, arguments: tuple[Any, ...], named: dict[str, Any], frame: types.FrameType) -> Any:
        """A call, and what it changed in its arguments."""
        self._making = handle._gavel[3] and handle._gavel[2] == "class"
        told = {name: self._told(each) for name, each in named.items()}
        message = {"do": "call", "a": [self._told(each) for each in (handle, *arguments)], "k": told}
        try:
            value, changed = self._asked(message)
        except (StopIteration, StopAsyncIteration) as error:
            if self.stops:
                raise
            # In ``all(map(...))`` it would end the tests' own loop before their last case (as in PEP 479).
            stopped = RuntimeError("the code raised StopIteration")
            stopped.__dict__["_of_the_code"] = True
            raise stopped from error
        asserting = frame.f_code.co_filename == TESTS and frame.f_lineno in self._quiet
        if changed and not (asserting and value is not None):
            for place, after in changed.items():
                before = arguments[int(place)] if place.isdecimal() else named.get(place)
                _pour(before, after)
        return value

    def _told(self, value: Any) -> Any:
        try:
            return self._writer(value)
        except UnfitError as error:
            raise UnsuitedError(f"the tests give the code {error}") from None

    def _asked(self, message: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if self.broken is not None:
            raise self.broken
        try:
            self._link.send(message)
            while True:
                reply = self._link.receive()
                if "cb" not in reply:
                    break
                self._link.send(self._called_back(reply))
            making, self._making = self._making, False
            return self._answer(reply, making)
        except UnfitError as error:
            raise UnsuitedError(f"the tests give the code {error}") from None
        except (GoneError, SpoiledError) as error:
            self.broken = error
            raise

    def _answer(self, reply: dict[str, Any], making: bool) -> tuple[Any, dict[str, Any]]:
        with _DecodingTime():
            if "e" in reply:
                raise self._error(reply["e"])
            if "v" not in reply or not isinstance(reply.get("m", {}), dict):
                raise SpoiledError("a message that is no answer")
            value = self._reader(reply["v"])
            changed = {str(place): self._reader(each) for place, each in reply.get("m", {}).items()}
        if making and type(value) is Handle:
            object.__setattr__(value, "_gavel", (*value._gavel[:3], True))
        self.answered += 1
        return value, changed

    def _called_back(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a call of a function of the tests by the code."""
        number, arguments, named = asked["cb"], asked.get("a"), asked.get("k")
        if type(number) is not int or not 0 <= number < len(self._given):
            raise SpoiledError("a call of a function that was not given")
        if type(arguments) is not list or type(named) is not dict:
            raise SpoiledError("a call without arguments")
        values = [self._reader(each) for each in arguments]
        try:
            return {"r": self._writer(self._given[number](*values, **{k: self._reader(v) for k, v in named.items()}))}
        except Exception as error:  # noqa: BLE001 (it goes to the caller, as exceptions do)
            kind = type(error).__name__
            return {"x": [kind if hasattr(builtins, kind) else "Exception", str(error)[:1000]]}

    def _tell(self, value: Any) -> list[Any]:
        """What stands for a value of the tests that is no plain one."""
        if type(value) is Handle:
            return ["h", value._gavel[1]]
        if isinstance(value, type) and value in self._numbers:
            return ["h", self._numbers[value]]
        if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType) or (
            callable(value) and type(value).__module__ in ("functools", "operator")
        ):
            self._given.append(value)
            return ["R", len(self._given) - 1]
        if isinstance(value, Iterator):
            parts: list[Any] = []
            for part in value:
                parts.append(Writer(self._tell)(part))
                if len(parts) > _MOST_HANDLES:
                    raise UnsuitedError("the tests give the code an iterator that does not end")
            return ["g", 0, *parts]
        raise UnsuitedError(
            f"the tests give the code a {type(value).__name__}, which cannot be given to another process"
        )

    def _object(self, told: list[Any]) -> Any:
        """The handle, or the class of exceptions, that a number stands for."""
        if told[0] == "R" and len(told) == 2:
            return self._given[told[1]]
        if told[0] == "x" and len(told) == 4:
            return self._error_class(told[1], told[2], told[3])
        if told[0] != "h" or len(told) != 3 or type(told[1]) is not int or type(told[2]) is not str:
            raise ValueError("a value of no known kind")
        if told[1] not in self._handles:
            if len(self._handles) > _MOST_HANDLES:
                raise ValueError("too many objects")
            self._handles[told[1]] = Handle(self, told[1], told[2], made=False)
        return self._handles[told[1]]

    def _error(self, told: Any) -> BaseException:
        """The exception that the code raised; one that Python itself has, or of a class that is made for it here."""
        if type(told) is not list or len(told) < 3:
            raise SpoiledError("an exception of no known kind")
        base, number, name, *arguments = told
        kind = _builtin_error(base) if number is None else self._error_class(number, name, base)
        values = [self._reader(each) for each in arguments]
        try:
            error = kind(*values)
        except (TypeError, ValueError):
            # Some classes want certain arguments.
            error = RuntimeError(str(name)[:100])
        error.__dict__["_of_the_code"] = True
        return error

    def _error_class(self, number: Any, name: Any, base: Any) -> type[BaseException]:
        if type(number) is not int or type(name) is not str or not name.isidentifier():
            raise SpoiledError("a class of exceptions of no known kind")
        if number not in self._errors:
            if len(self._errors) > 1000:
                raise SpoiledError("too many classes of exceptions")
            self._errors[number] = made = type(name[:100], (_builtin_error(base),), {})
            self._numbers[made] = number
        return self._errors[number]

    def _spoiled(self, text: str) -> SpoiledError:
        self.broken = SpoiledError(text)
        return self.broken


def _builtin_error(name: Any) -> type[BaseException]:
    kind = getattr(builtins, name, None) if type(name) is str else None
    if isinstance(kind, type) and issubclass(kind, BaseException) and kind is not BaseExceptionGroup:
        return kind
    return Exception


class _DecodingTime:
    """Ends the reading of a value that takes too long, such as a set whose members all have one hash."""

    def __enter__(self) -> None:
        signal.signal(signal.SIGPROF, self._late)
        signal.setitimer(signal.ITIMER_PROF, _DECODING_SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _late(self, *_: object) -> None:
        raise SpoiledError(f"a value that takes more than {_DECODING_SECONDS:g} s to read")


def _pour(before: Any, after: Any) -> None:
    """Make a container of the tests have what the code's copy of it has."""
    if type(before) is not type(after):
        return
    if isinstance(before, list):
        for old, new in zip(before, after, strict=False):
            _pour(old, new)
        before[:] = [old if _same(old, new) else new for old, new in _paired(before, after)]
    elif isinstance(before, dict | set):
        before.clear()
        before.update(after)
    elif isinstance(before, bytearray):
        before[:] = after


def _paired(before: list[Any], after: list[Any]) -> Iterator[tuple[Any, Any]]:
    for at, new in enumerate(after):
        yield (before[at] if at < len(before) else new), new


def _same(old: Any, new: Any) -> bool:
    return isinstance(old, list | dict | set | bytearray) and type(old) is type(new)
