"""The side of the tests: runs them as they are, and has the code under test called by the other side.

Runs inside a sandbox of its own. The tests see copies of what the code returned, of built-in types, and compare them
here.
"""

import ast
import builtins
import importlib
import sys
from collections.abc import Iterator
from typing import Any, Final

from components.tasks.code_handles import TESTS, Other, UnsuitedError
from components.tasks.code_wire import GoneError, Link, SpoiledError

_DESCRIPTOR: Final = 4


def judge(task: dict[str, Any]) -> dict[str, Any]:
    """Whether the code passes its tests.

    Args:
        task: ``prompt``, ``helpers``, ``code``, ``setup``, ``tests`` (source), ``entry_point`` (or None), ``trusted``
            (whether the prompt is source whose functions the tests may use), ``proven`` (whether right code never
            brings the tests to their limits).

    Returns:
        ``passed`` (None when the tests themselves cannot be run), ``reason`` and ``detail``.
    """
    try:
        trial = Trial(task)
    except (SyntaxError, ValueError, RecursionError) as error:
        return _told(None, "tests", f"the tests are no Python: {error}")
    return trial.run()


def _told(passed: bool | None, reason: str, detail: object) -> dict[str, Any]:
    return {"passed": passed, "reason": reason, "detail": str(detail)[:500]}


class Trial:
    """One program and its tests.

    Raises:
        SyntaxError: the tests, or the source that comes with them, are no Python.
    """

    def __init__(self, task: dict[str, Any]) -> None:
        self._task = task
        self._entry = task["entry_point"]
        self._setup = ast.parse(task["setup"])
        self._checks = ast.parse(task["tests"])
        own = [ast.parse(task["helpers"]), ast.parse(task["prompt"] if task["trusted"] else "")]
        # Functions that came with the task, not those of the same name that the answer has put in their place.
        self._own = ast.Module([node for tree in own for node in tree.body if self._kept(node)], [])
        shared = [node for tree in own for node in tree.body if isinstance(node, ast.ClassDef)]
        classes = [node for node in self._setup.body if isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom)]
        self._lent = "\n".join(ast.unparse(node) for node in classes)
        self._setup.body = [node for node in self._setup.body if not isinstance(node, ast.ClassDef)]
        self._trees = [self._own, self._setup, self._checks]
        for tree in self._trees:
            _count_assertions(tree)
        quiet = {
            line
            for tree in self._trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Assert)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        self._other = Other(Link(_DESCRIPTOR), frozenset(quiet))
        self._wanted = self._free_names()
        named = {name for name in self._wanted if name[:1].isupper() and name != self._entry}
        self._other.classes = frozenset({*named, *(node.name for node in shared)})
        self._asserted = 0

    def _kept(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return bool(node.name != self._entry)
        return isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)

    def run(self) -> dict[str, Any]:
        """As :func:`judge` says."""
        try:
            found = self._run()
        except (GoneError, SpoiledError) as error:
            found = self._broken(error)
        except UnsuitedError as error:
            found = _told(None, "tests", error)
        except BaseException as error:  # noqa: BLE001 (the tests may raise anything)
            found = self._raised(error)
        return found if self._other.broken is None else self._broken(self._other.broken)

    def _run(self) -> dict[str, Any]:
        task = self._task
        self._check_callable()
        try:
            self._other.load([task["prompt"] if task["trusted"] else "", task["helpers"], task["code"], self._entry])
        except Exception as error:  # noqa: BLE001 (the code may raise anything)
            return _told(False, "not_loaded", f"{type(error).__name__}: {error}")
        if self._lent:
            self._other.ask("lend", self._lent)
        space: dict[str, Any] = {"__name__": "tests", "__asserted__": self._count}
        exec(compile(self._own, "<given>", "exec", dont_inherit=True), space)
        for name in sorted(self._wanted):
            if self._missing(name, space):
                return _told(False, "lacking", f"the code defines no {name}")
        for tree in (self._setup, self._checks):
            exec(compile(tree, TESTS, "exec", dont_inherit=True, optimize=0), space)
        self._call_tests(space)
        if not self._other.answered or not self._asserted:
            asserts = any(isinstance(node, ast.Assert) for tree in self._trees for node in ast.walk(tree))
            if asserts:
                return _told(False, "failed", "no assertion of the tests was reached")
            return _told(None, "tests", "the tests assert nothing")
        return _told(True, "passed", f"{self._asserted} assertions")

    def _count(self) -> None:
        self._asserted += 1

    def _missing(self, name: str, space: dict[str, Any]) -> bool:
        """Give the tests what a free name of theirs means; returns whether nothing does."""
        if name in space and name != self._entry:
            return False
        if name != self._entry and name in sys.stdlib_module_names and name not in self._called:
            space[name] = importlib.import_module(name)
            return False
        there, value = self._other.name(name)
        if there:
            space[name] = value
        return not there

    def _check_callable(self) -> None:
        """Refuse tests that nobody could call: whatever the code does, they would raise, or assert nothing.

        Raises:
            UnsuitedError: a test takes arguments, or is a coroutine.
        """
        for node, given in _tests_of(self._checks, self._entry):
            if isinstance(node, ast.AsyncFunctionDef):
                raise UnsuitedError(f"{node.name} is a coroutine, and nothing awaits it")
            # A function that other tests call is a helper of theirs, whatever its name.
            if not _takes(node, given) and node.name not in self._called:
                raise UnsuitedError(f"{node.name} takes other arguments than the {given} that it is called with")

    def _call_tests(self, space: dict[str, Any]) -> None:
        """HumanEval's ``check``; functions named as pytest has them; ``unittest``'s cases."""
        defined = [
            node.name
            for node in self._checks.body
            if isinstance(node, ast.FunctionDef) and (_takes(node, 0) or node.name == "check")
        ]
        if self._entry is not None and "check" in defined:
            space["check"](space[self._entry])
            return
        for name in defined:
            if name.startswith("test"):
                space[name]()
        if "unittest" in space and any(isinstance(node, ast.ClassDef) for node in self._checks.body):
            self._call_cases(space)

    def _call_cases(self, space: dict[str, Any]) -> None:
        unittest = importlib.import_module("unittest")
        kinds = [each for each in space.values() if isinstance(each, type) and issubclass(each, unittest.TestCase)]
        for kind in kinds:
            found = unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(unittest.TestResult())
            self._asserted += found.testsRun - len(found.skipped)
            if not found.wasSuccessful():
                _, text = [*found.failures, *found.errors, (None, "a test that should fail did not")][0]
                raise AssertionError(text.strip().splitlines()[-1])

    def _free_names(self) -> set[str]:
        """Global names that the tests use and nothing but the code defines."""
        bound, used, called = set[str](), set[str](), set[str]()
        for tree in self._trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
                elif isinstance(node, ast.arg):
                    bound.add(node.arg)
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    bound.add(node.name)
                elif isinstance(node, ast.alias):
                    bound.add((node.asname or node.name).partition(".")[0])
                elif isinstance(node, ast.ExceptHandler) and node.name:
                    bound.add(node.name)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    called.add(node.func.id)
        self._called = called
        self._other.stops = bool(used & {"StopIteration", "StopAsyncIteration"})
        free = used - bound - {"__asserted__"}
        wanted = {name for name in free if not hasattr(builtins, name)}
        if self._entry is not None:
            return wanted | {self._entry}
        if not wanted & called and not any(hasattr(node, "name") for node in self._checks.body):
            # A function that has the name of a built-in one: the outermost that the assertions call.
            wanted |= {name for name in map(_subject, self._checks.body) if name is not None and name not in bound}
        return wanted

    def _raised(self, error: BaseException) -> dict[str, Any]:
        text = f"{type(error).__name__}: {error}"[:300]
        if getattr(error, "_of_the_code", False):
            return _told(False, "raised", text)
        if isinstance(error, AssertionError):
            return _told(False, "failed", self._where(error))
        if isinstance(error, MemoryError) and self._task.get("proven"):
            return _told(False, "memory_limit", f"the tests, for what the code answered: {self._where(error)}")
        if isinstance(error, MemoryError | ImportError | SyntaxError | RecursionError | UnboundLocalError | NameError):
            return _told(None, "tests", f"the tests cannot be run: {text}")
        return _told(False, "failed", f"{self._where(error)}: {text}")

    def _broken(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, SpoiledError):
            return _told(False, "spoiled", f"the code's process sent {error}")
        return _told(False, "ended", "the code's process ended before the tests did")

    def _where(self, error: BaseException) -> str:
        """The line of the tests that failed."""
        trace, number = error.__traceback__, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == TESTS:
                number = trace.tb_lineno
            trace = trace.tb_next
        lines = self._task["tests"].splitlines()
        return lines[number - 1].strip()[:300] if 0 < number <= len(lines) else str(error)[:300]


def _tests_of(tree: ast.Module, entry: str | None) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Functions that are called as tests, and with how many arguments."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if entry is not None and node.name == "check":
                yield node, 1
            elif node.name.startswith("test"):
                yield node, 0
        elif isinstance(node, ast.ClassDef) and any("TestCase" in ast.unparse(base) for base in node.bases):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name.startswith("test") and not each.decorator_list:
                    yield each, 1


def _takes(node: ast.FunctionDef | ast.AsyncFunctionDef, given: int) -> bool:
    """Whether the function can be called with so many arguments; one that something decorates may always."""
    takes = node.args
    places = len(takes.posonlyargs) + len(takes.args)
    named = any(default is None for default in takes.kw_defaults)
    fits = places - len(takes.defaults) <= given and (given <= places or takes.vararg is not None) and not named
    return fits or bool(node.decorator_list)


def _subject(node: ast.stmt) -> str | None:
    """The function that an assertion is about: of ``sum(1, 2) == 3``, sum."""
    if not isinstance(node, ast.Assert):
        return None
    for each in ast.walk(node.test):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            return each.func.id
    return None


def _count_assertions(tree: ast.Module) -> None:
    """Before each assertion, tell that it is reached."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                setattr(node, field, [each for statement in body for each in _told_first(statement)])


def _told_first(statement: ast.stmt) -> list[ast.stmt]:
    if not isinstance(statement, ast.Assert):
        return [statement]
    call = ast.Expr(ast.Call(ast.Name("__asserted__", ast.Load()), [], []))
    return [ast.fix_missing_locations(ast.copy_location(call, statement)), statement]
