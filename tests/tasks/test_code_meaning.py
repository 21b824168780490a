"""What tests mean holds across the two processes: equality, exceptions, classes, functions, iterators, arguments."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind, Value
from components.tasks.code import CodeOutcome, CodeRunner, _judged
from components.tasks.gold import CodeGold

Judge = Callable[..., CodeOutcome]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with asyncio.Runner() as loop:
        runner = CodeRunner(Limits(cpu_seconds=10, wall_seconds=60.0), concurrency=1)

        def judged(tests: str, code: str, **more: str) -> CodeOutcome:
            dataset = more.pop("dataset", "custom_code")
            gold = CodeGold(dataset, more.pop("prompt", ""), more.pop("entry_point", None), tests, **more)
            return loop.run(runner.run(gold, code))

        yield judged
        loop.run(runner.close())


VALUES = (
    *("None", "True", "0", "-1", "2**70", "-(2**63)", "10**4000", "1.5", "-0.0", "1e308", "float('inf')", "1j", "''"),
    *(
        "'\\ud800'",
        "'é\\0'",
        "b'\\xff'",
        "bytearray(b'x')",
        "[]",
        "[1, [2.0, 'x']]",
        "()",
        "(1,)",
        "{}",
        "{1: 'a', (2, 3): []}",
    ),
    *("set()", "{1, 'a', (2,)}", "frozenset({1})", "range(2, 9, 3)", "slice(1, None)", "...", "NotImplemented", "int"),
    *(
        "D('1.10')",
        "F(1, 3)",
        "C('aab')",
        "O([(2, 1), (1, 2)])",
        "Q([1, 2], 3)",
        "dt.datetime(2024, 2, 29, 1, 2, 3, 4)",
    ),
    *(
        "dt.date(1, 1, 1)",
        "dt.timedelta(1, 2, 3)",
        "dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)",
        "array('i', [1, 2])",
    ),
)
IMPORTS = (
    "import datetime as dt\nfrom decimal import Decimal as D\nfrom fractions import Fraction as F\n"
    "from array import array\n"
    "from collections import Counter as C, OrderedDict as O, deque as Q\n"
)


@pytest.mark.parametrize("value", VALUES)
def test_values_keep_their_type_and_content_both_ways(judge: Judge, value: str) -> None:
    tests = (
        f"{IMPORTS}expected = {value}\nfor found in (make(), same(expected), same([expected])[0]):\n"
        "    assert type(found) is type(expected)\n    assert found == expected and repr(found) == repr(expected)\n"
    )
    code = f"{IMPORTS}def make(): return {value}\ndef same(x): return x\n"
    outcome = judge(tests, code)
    assert outcome.passed is True, outcome


def test_not_a_number_is_unequal_to_itself(judge: Judge) -> None:
    assert judge("x = f()\nassert x != x", "def f(): return float('nan')").passed is True
    assert judge("assert f() == float('nan')", "def f(): return float('nan')").passed is False


RIGHT = {
    "exception": (
        "try:\n f(-1)\nexcept ValueError as e:\n assert str(e) == 'no'\nelse:\n assert False",
        "def f(x): raise ValueError('no')",
    ),
    "key error": ("try:\n f({})\nexcept KeyError as e:\n assert e.args == (3,)", "def f(x): return x[3]"),
    "own exception": (
        "try:\n f()\nexcept Mine as e:\n assert isinstance(e, ValueError)\nelse:\n assert False",
        "class Mine(ValueError): pass\ndef f(): raise Mine('x')",
    ),
    "class": (
        "s = Stack()\nassert not s\ns.push(1); s.push(2)\nassert s.pop() == 2 and len(s) == 1 and bool(s)\n"
        "assert s.items == [1]\n"
        "assert isinstance(s, Stack)",
        "class Stack:\n def __init__(s): s.items = []\n def push(s, x): s.items.append(x)\n"
        " def pop(s): return s.items.pop()\n"
        " def __len__(s): return len(s.items)",
    ),
    "linked nodes": (
        "a = Node(1)\na.next = Node(2)\na.next.next = Node(3)\nb = rev(a)\n"
        "assert [b.val, b.next.val, b.next.next.val] == [3, 2, 1]\nassert b.next.next is a and a.next is None",
        "class Node:\n def __init__(s, v): s.val, s.next = v, None\ndef rev(n):\n p = None\n"
        " while n: n.next, p, n = p, n, n.next\n return p",
    ),
    "objects that know equality": (
        "assert V(1, 2) + V(3, 4) == V(4, 6)\nassert V(1, 2) != V(2, 1)\nassert len({V(1, 2), V(1, 2)}) == 1",
        "class V:\n def __init__(s, x, y): s.t = (x, y)\n"
        " def __add__(s, o): return V(s.t[0] + o.t[0], s.t[1] + o.t[1])\n"
        " def __eq__(s, o): return s.t == o.t\n def __hash__(s): return hash(s.t)",
    ),
    "generator": (
        "g = f(3)\nassert next(g) == 0\nassert list(g) == [1, 2]\nassert list(g) == []",
        "def f(n): yield from range(n)",
    ),
    "infinite generator": (
        "import itertools\nassert list(itertools.islice(f(), 3)) == [0, 1, 2]",
        "import itertools\ndef f(): return itertools.count()",
    ),
    "map": ("assert list(f([1, 2])) == [2, 4]", "def f(x): return map(lambda n: 2 * n, x)"),
    "views": ("assert f({1: 2}) == {1}", "def f(d): return d.keys()"),
    "closure": ("assert f(2)(3) == 5", "def f(n): return lambda m: n + m"),
    "function of the tests": ("assert f(lambda n: n + 1, [1, 2]) == [2, 3]", "def f(g, x): return [g(n) for n in x]"),
    "function that raises": (
        "def g(n): raise KeyError(n)\nassert f(g) == 'KeyError'",
        "def f(g):\n try: g(1)\n except KeyError as e: return type(e).__name__",
    ),
    "iterator of the tests": (
        "assert f(iter([1, 2])) == 3\nassert f(n for n in (1, 2)) == 3",
        "def f(i): return next(i) + next(i)",
    ),
    "in place": ("a = [3, 1, 2]\nf(a)\nassert a == [1, 2, 3]", "def f(a): a.sort()"),
    "in place and a number": (
        "a = [1, 1, 2]\nk = f(a)\nassert a[:k] == [1, 2]",
        "def f(a):\n a[:] = sorted(set(a))\n return len(a)",
    ),
    "dict in place": ("d = {1: [2]}\nassert f(d) is None\nassert d == {1: [2], 3: 4}", "def f(d): d[3] = 4"),
    "named tuple": (
        "assert f() == (1, 2)",
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)",
    ),
    "default dict": (
        "assert f('aab') == {'a': 2, 'b': 1}",
        "from collections import defaultdict\ndef f(s):\n d = defaultdict(int)\n for c in s: d[c] += 1\n return d",
    ),
    "number of an enum": ("assert f() == 2", "import enum\nclass E(enum.IntEnum): A = 2\ndef f(): return E.A"),
    "match": ("assert f('ab')\nassert not f('b')", "import re\ndef f(s): return re.match('a', s)"),
    "constant": ("assert LIMIT == 3", "LIMIT = 3"),
    "own name of a built-in function": ("assert sum(1, 2) == 3", "def sum(a, b): return a + b"),
    "module that only the code imports": ("assert math.floor(f()) == 1", "import math\ndef f(): return 1.5"),
    "printing": ("assert f() == 1", "def f():\n print('x' * 1000)\n return 1"),
    "test functions": ("def test_one():\n assert f() == 1\ndef test_two():\n assert f() != 2", "def f(): return 1"),
    "unit tests": (
        "import unittest\nclass T(unittest.TestCase):\n def test_it(self):\n  self.assertEqual(f(), 1)\n"
        "  with self.assertRaises(ValueError): g()",
        "def f(): return 1\ndef g(): raise ValueError",
    ),
    "deep recursion within limits": ("assert f(900) == 900", "def f(n): return n and 1 + f(n - 1)"),
    "keyword arguments": ("assert f(b=1, a=3) == 2", "def f(*, a, b): return a - b"),
    "attributes of functions": ("assert f.__name__ == 'f'", "def f():\n 'D.'"),
    "windows line ends": ("assert f() == 1", "def f():\r\n    return 1\r\n"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_pass(judge: Judge, name: str) -> None:
    outcome = judge(*RIGHT[name])
    assert outcome.passed is True, outcome


WRONG = {
    "one test of many": ("assert f(1) == 1\nassert f(2) == 3", "def f(x): return x", "failed"),
    "list for a tuple": ("assert f() == (1, 2)", "def f(): return [1, 2]", "failed"),
    "text for a number": ("assert f() == 1", "def f(): return '1'", "failed"),
    "order": ("assert f() == [1, 2]", "def f(): return [2, 1]", "failed"),
    "raises": ("assert f() == 1", "def f(): return {}[1]", "raised"),
    "does not raise": (
        "try:\n f()\nexcept ValueError: pass\nelse:\n assert False, 'nothing raised'",
        "def f(): pass",
        "failed",
    ),
    "name missing": ("assert f() == 1", "def g(): return 1", "lacking"),
    "asserts that are swallowed": (
        "try:\n assert f() == 1\nexcept Exception: pass\nassert f() == 2",
        "import os\ndef f(): os._exit(0)",
        "ended",
    ),
    "ends where everything is swallowed": (
        "try:\n f()\nexcept BaseException: pass\nassert 1 == 1",
        "import os\ndef f(): os._exit(0)",
        "ended",
    ),
    "changes what it is compared with": (
        "a = [3, 1]\nassert f(a) == sum(a)",
        "def f(a):\n a.clear()\n return 0",
        "failed",
    ),
    "text-like answer": (
        "assert f().startswith('abc')",
        "class T:\n def startswith(s, p): return True\ndef f(): return T()",
        "failed",
    ),
    "list-like answer": (
        "assert 3 in f()",
        "class T:\n def __contains__(s, x): return True\n def __iter__(s): return iter(())\ndef f(): return T()",
        "failed",
    ),
    "number-like answer": (
        "assert abs(f() - 3.14) < 1e-6",
        "class T:\n def __sub__(s, o): return 0.0\ndef f(): return T()",
        "failed",
    ),
    "no assertion reached": ("for x in f():\n assert x == 1", "def f(): return []", "failed"),
    "failing unit test": (
        "import unittest\nclass T(unittest.TestCase):\n def test_it(self): self.assertEqual(f(), 2)",
        "def f(): return 1",
        "failed",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_fail(judge: Judge, name: str) -> None:
    tests, code, reason = WRONG[name]
    outcome = judge(tests, code)
    assert (outcome.passed, outcome.reason) == (False, reason), outcome


UNKNOWN = {
    "no Python": "assert f( == 1",
    "assert nothing": "f()",
    "module that is not there": "import no_such_module\nassert f() == 1",
    "never end": "assert f() == 1\nwhile True: pass",
    "object that cannot cross": "class A: pass\nassert f(A()) == 1",
    "arguments that nobody gives": "def test_a(x):\n    assert f() == 1",
    "named arguments that nobody gives": "def test_a(*, x):\n    assert f() == 1",
    "arguments of a case's method": (
        "import unittest\nclass T(unittest.TestCase):\n def test_a(self, x):\n  self.assertEqual(f(), 1)"
    ),
    "a coroutine": "async def test_a():\n    assert f() == 1",
    "a loop as long as they like": "for i in range(f(3)): pass\nassert f() == 10**12",
    "name of their own that is not bound": "def test_it():\n    print(x)\n    x = 1\n    assert f() == 1",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_broken_tests_decide_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.tasks.code._TESTS_LONGER", 1)

    async def run() -> CodeOutcome:
        runner = CodeRunner(Limits(cpu_seconds=1, wall_seconds=20.0), concurrency=1)
        try:
            code = "def f(*a): return 10**12 if a == (3,) else 1"
            return await runner.run(CodeGold("custom_code", "", None, UNKNOWN[name]), code)
        finally:
            await runner.close()

    outcome = asyncio.run(run())
    assert (outcome.passed, outcome.reason) == (None, "tests"), outcome


def test_a_check_without_a_place_for_the_candidate_decides_nothing(judge: Judge) -> None:
    about = {"prompt": 'def f(x):\n    "The same."\n', "entry_point": "f", "dataset": "humaneval"}
    outcome = judge("def check():\n    assert f(2) == 2", "    return x", **about)
    assert (outcome.reason, "check takes other arguments" in outcome.detail) == ("tests", True)
    assert judge("def check(candidate, more=1):\n    assert candidate(2) == 2", "    return x", **about).passed is True


def test_a_test_function_that_others_call_is_a_helper_of_theirs(judge: Judge) -> None:
    tests = "def test_equal(x, y):\n    assert f(x) == y\ntest_equal(1, 2)\ntest_equal(2, 4)"
    assert judge(tests, "def f(x): return 2 * x").passed is True
    assert judge(tests, "def f(x): return x + 1").reason == "failed"
    assert judge("def test_a(x=3):\n    assert f(x) == 6", "def f(x): return 2 * x").passed is True


@pytest.mark.parametrize(
    ("tests", "value", "reason"),
    [
        ("for i in range(f(3)): pass\nassert f(3) == 4", "10**12", "time_limit"),
        ("assert f(3) ** f(4) == 64", "10**12", "time_limit"),
        ("assert 'x' * f(3) == 'xxx'", "10**12", "memory_limit"),
    ],
)
def test_values_that_bring_proven_tests_to_their_limits_are_the_programs_fault(
    tests: str, value: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every official solution of MBPP and HumanEval passes within the limits, so that it is not for the tests."""
    monkeypatch.setattr("components.tasks.code._TESTS_LONGER", 1)

    async def run() -> CodeOutcome:
        runner = CodeRunner(Limits(cpu_seconds=1, wall_seconds=60.0), concurrency=1)
        try:
            return await runner.run(CodeGold("mbpp", "p", None, tests), f"def f(x): return {value}")
        finally:
            await runner.close()

    outcome = asyncio.run(run())
    assert (outcome.passed, outcome.reason) == (False, reason), outcome


def test_a_helper_of_the_prompt_is_not_the_answers(judge: Judge) -> None:
    """As poly of HumanEval 32: an answer that redefines it is still judged by the given one."""
    prompt = "def double(x):\n    return 2 * x\n\n\ndef half(x):\n    '''Undoes double.'''\n"
    tests = "def check(candidate):\n    for n in range(5):\n        assert double(candidate(n)) == n\n"
    about = {"prompt": prompt, "entry_point": "half", "dataset": "humaneval"}
    assert judge(tests, "    return x / 2\n", **about).passed is True
    cheat = "def double(x):\n    return x\ndef half(x):\n    return x\n"
    assert judge(tests, cheat, **about).passed is False
    assert judge(tests, f"```python\n{prompt}    return x / 2\n```", **about).passed is True


@pytest.mark.parametrize(
    "response",
    [
        "    return 2 * x",
        "\n    y = x\n    return y + x\n\n\nprint('and so on until the tokens end",
        "    def g(y):\n        return y\n    return g(x) + x\n\ndef other(",
        "def f(x):\n    return 2 * x\n",
        "Here it is:\n\ndef f(x):\n    return 2 * x\n\nIt doubles.",
        "from here on:\nimport math\ndef f(x):\n    return 2 * x\n\nDone.\nReally.",
        "```\n    return 2 * x\n```",
        "Use:\n```python\ndef f(x):\n    return 2 * x\n```\nas in\n```python\nprint(f(2))\n```",
        "<think>```python\ndef f(x): return 0\n```</think>\n```python\ndef f(x): return 2 * x\n```",
        "```python\ndef f(x):\n    return 2 * x",
    ],
)
def test_programs_are_found_in_responses(judge: Judge, response: str) -> None:
    about = {"prompt": 'def f(x):\n    """Doubles."""\n', "entry_point": "f", "dataset": "humaneval"}
    outcome = judge("def check(candidate):\n    assert candidate(21) == 42", response, **about)
    assert outcome.passed is True, outcome


def test_code_then_setup_then_tests(judge: Judge) -> None:
    code = (
        "class Node:\n def __init__(s, v): s.v, s.left = v, None\ndef height(n): return 1 + height(n.left) if n else 0"
    )
    setup = "root = Node(1)\nroot.left = Node(2)"
    assert judge("assert height(root) == 2", code, setup=setup).passed is True
    assert judge("assert math.isclose(f(), math.pi)", "def f(): return math.pi", setup="import math").passed is True


def test_helpers_run_before_the_answer_and_their_functions_stay_themselves(judge: Judge) -> None:
    helpers = (
        "class Cell:\n    def __init__(self, v, n=None):\n        self.v, self.n = v, n\n\n"
        "def build(xs):\n    first = None\n    for x in reversed(xs):\n        first = Cell(x, first)\n"
        "    return first\n\n"
        "def listed(c):\n    out = []\n    while c:\n        out.append(c.v)\n        c = c.n\n    return out\n"
    )
    tests = "assert listed(tail(build([1, 2, 3]))) == [2, 3]"
    assert judge(tests, "def tail(c): return c.n", helpers=helpers).passed is True
    cheat = "def listed(c): return [2, 3]\ndef tail(c): return None"
    assert judge(tests, cheat, helpers=helpers).passed is False


def failure(kind: FailureKind) -> Failure:
    return Failure(kind, "why", 1.0)


def test_what_no_program_can_bring_about_is_unknown() -> None:
    ended = Value({"passed": False, "reason": "ended", "detail": "gone"}, 1.0)
    passed = Value({"passed": True, "reason": "passed", "detail": ""}, 1.0)
    assert _judged(failure(FailureKind.KILLED), ended)[:2] == (None, "sandbox")
    assert _judged(failure(FailureKind.TIMEOUT), ended)[:2] == (False, "time_limit")
    assert _judged(failure(FailureKind.MEMORY), ended)[:2] == (False, "memory_limit")
    assert _judged(ServiceError("no isolation"), ended)[:2] == (None, "sandbox")
    assert _judged(ended, failure(FailureKind.KILLED))[:2] == (None, "sandbox")
    assert _judged(failure(FailureKind.CRASH), passed)[0] is True
    assert _judged(ended, failure(FailureKind.TIMEOUT))[:2] == (None, "tests")
    assert _judged(ended, failure(FailureKind.TIMEOUT), proven=True)[:2] == (False, "time_limit")
    assert _judged(ended, failure(FailureKind.KILLED), proven=True)[:2] == (None, "sandbox")
    for odd in (Value(True, 1.0), Value({"passed": 1}, 1.0), Value("passed", 1.0)):
        assert _judged(ended, odd)[0] is None
