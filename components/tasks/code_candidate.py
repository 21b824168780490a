"""The side of the code under test: loads it, and does to its objects what the tests ask for.

Runs inside a sandbox of its own, which never holds the tests: the code comes over the same socket as the calls. What
the code does to this module it does to its own answers alone.
"""

import ast
import builtins
import itertools
import operator
import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, Final

from components.tasks.code_wire import GoneError, Link, Reader, UnfitError, Writer

_DESCRIPTOR: Final = 4
_BEGINNING: Final = re.compile(r"(?:async def|def|class|import|from)\s|@\w")
_TRIES: Final = 20
_CONTAINERS: Final = (list, dict, set, bytearray)


def serve() -> None:
    """Answer until the tests are over."""
    Candidate(Link(_DESCRIPTOR)).serve()


def program(prompt: str, helpers: str, code: str, entry_point: str | None) -> str:
    """One source of what was given and the answer: a whole function stands after the prompt, a completion continues it.

    Args:
        prompt: source that the answer may continue; may be empty.
        helpers: source before everything else.
        code: the answer.
        entry_point: the function that the prompt begins.
    """
    before = f"{helpers}\n" if helpers.strip() else ""
    source = _source_in(code)
    if not prompt.strip():
        return before + source
    if entry_point in _defined(source):
        return f"{before}{prompt}\n{source}"
    return f"{before}{prompt}{_completion(prompt, code)}"


def _completion(prompt: str, code: str) -> str:
    """What continues the prompt; where all of it is no source, up to the first line that is not indented."""
    if _parses(prompt + code):
        return code
    first, *rest = code.split("\n")
    inside = list(itertools.takewhile(lambda line: not line[:1].strip(), rest))
    shorter = "\n".join([first, *inside])
    return shorter if _parses(prompt + shorter) else code


def _source_in(text: str) -> str:
    """Source between sentences: from a line that begins a definition or an import, to the last one that fits."""
    if _parses(text):
        return text
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _BEGINNING.match(line)]
    ends = [number for number, line in enumerate(lines) if line[:1].strip()]
    for start in starts[:_TRIES]:
        for end in [len(lines), *reversed([each for each in ends if each > start])][:_TRIES]:
            if _parses(found := "\n".join(lines[start:end])):
                return found
    return text


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _defined(source: str) -> set[str]:
    return {str(getattr(node, "name", "")) for node in ast.parse(source).body} if _parses(source) else set()


class Candidate:
    """The code's objects by number, and what may be done to them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._module = types.ModuleType("solution")
        self._writer = Writer(self._number)
        self._reader = Reader(self._object)

    def serve(self) -> None:
        while True:
            try:
                self._wait()
            except GoneError:
                return

    def _wait(self) -> dict[str, Any]:
        """Do what is asked until an answer to a question of ours comes."""
        while True:
            message = self._link.receive()
            if "do" not in message:
                return message
            self._reply(message)

    def _reply(self, message: dict[str, Any]) -> None:
        try:
            arguments = [self._reader(each) for each in message["a"]]
            named = {name: self._reader(each) for name, each in message.get("k", {}).items()}
            reply: dict[str, Any] = {"v": self._writer(self._do(message["do"], arguments, named))}
            if message["do"] == "call":
                changed = self._changed(message, arguments[1:], named)
                if changed:
                    reply["m"] = changed
            self._link.send(reply)
        except GoneError:
            raise
        except BaseException as error:  # noqa: BLE001 (the boundary of the code under test)
            self._link.send({"e": self._exception(error)})

    def _changed(self, message: dict[str, Any], arguments: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        """What the call changed in lists, dicts and sets that it was given."""
        found = {}
        given = [*enumerate(message["a"][1:]), *message.get("k", {}).items()]
        for place, before in given:
            value = arguments[place] if isinstance(place, int) else named[place]
            if type(value) in _CONTAINERS:
                try:
                    after = self._writer(value)
                except UnfitError:
                    continue
                if after != before or type(value) is set:
                    found[str(place)] = after
        return found

    def _do(self, what: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        if what == "call":
            return arguments[0](*arguments[1:], **named)
        if what == "load":
            return self._load(*arguments)
        if what == "lend":
            return self._run(arguments[0])
        if what == "name":
            (name,) = arguments
            there = name in self._module.__dict__
            return [there, self._module.__dict__.get(name)]
        return _DOING[what](*arguments)

    def _load(self, prompt: str, helpers: str, code: str, entry_point: str | None) -> None:
        sys.modules["solution"] = self._module
        warnings.simplefilter("ignore")
        self._run(program(prompt, helpers, code, entry_point))

    def _run(self, source: str) -> None:
        exec(compile(source, "<solution>", "exec", dont_inherit=True), self._module.__dict__)

    def _number(self, value: Any) -> list[Any]:
        if isinstance(value, type) and issubclass(value, BaseException):
            name = _builtin(value)
            return ["x", self._keep(value), value.__name__, name]
        kind = "class" if isinstance(value, type) else "function" if callable(value) else "object"
        return ["h", self._keep(value), kind]

    def _keep(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _object(self, told: list[Any]) -> Any:
        kind, number = told[0], told[1]
        if kind == "h":
            return self._objects[number]
        if kind == "g":
            return iter([self._reader(each) for each in told[2:]])
        return self._callback(number)

    def _callback(self, number: int) -> Callable[..., Any]:
        """A function of the tests, as the code may call it."""

        def callback(*arguments: Any, **named: Any) -> Any:
            given = [self._writer(each) for each in arguments]
            self._link.send({"cb": number, "a": given, "k": {key: self._writer(each) for key, each in named.items()}})
            message = self._wait()
            if "x" in message:
                raise getattr(builtins, message["x"][0], RuntimeError)(*message["x"][1:])
            return self._reader(message["r"])

        return callback

    def _exception(self, error: BaseException) -> list[Any]:
        kind = type(error)
        number = None if kind is getattr(builtins, kind.__name__, None) else self._keep(kind)
        try:
            arguments = [self._writer(each) for each in error.args]
        except BaseException:  # noqa: BLE001 (whatever the code made of its exception)
            arguments = []
        name = str(kind.__name__)
        if len(repr(arguments)) > 100_000:
            arguments = []
        return [_builtin(kind), number, name, *arguments]


def _builtin(kind: type) -> str:
    for each in kind.__mro__:
        if getattr(builtins, each.__name__, None) is each:
            return str(each.__name__)
    return "Exception"


_DOING: Final[dict[str, Callable[..., Any]]] = {
    **{name: getattr(builtins, name) for name in ("getattr", "setattr", "delattr", "len", "iter", "next", "bool")},
    **{name: getattr(builtins, name) for name in ("repr", "str", "hash", "int", "float", "complex", "round", "format")},
    **{name: getattr(builtins, name) for name in ("abs", "isinstance", "reversed", "divmod", "pow")},
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "index", "neg", "pos", "invert")},
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul")},
    **{name: getattr(operator, name) for name in ("and_", "or_", "xor", "lshift", "rshift")},
    **{name: getattr(operator, name) for name in ("getitem", "setitem", "delitem")},
    "enter": lambda value: value.__enter__(),
    "leave": lambda value: value.__exit__(None, None, None),
}
