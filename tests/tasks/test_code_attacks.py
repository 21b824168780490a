"""No program passes that is not right; each ends within its limits, and the next one is judged as ever.

Run as root, as in CI, and as any other user; at both levels of the sandbox.
"""

import asyncio
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from code_attacks import ENDLESS, ENDS_EARLY, HARNESS, LIES, LIMITS_MET, TESTS

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.sandbox import Sandbox
from components.tasks.code import CodeOutcome, CodeRunner
from components.tasks.gold import CodeGold

RIGHT = "def f(x): return x + x"
GOLD = CodeGold("mbpp", "Write a function that doubles.", None, TESTS)
LIMITS = Limits(cpu_seconds=5, wall_seconds=20.0, memory_bytes=256 << 20, file_bytes=1 << 20, output_bytes=100_000)
HASTY = Limits(cpu_seconds=1, wall_seconds=4.0, memory_bytes=256 << 20)
Judge = Callable[[str], CodeOutcome]


@pytest.fixture(scope="module", params=["namespaces", "filter"])
def level(request: pytest.FixtureRequest) -> str:
    sandbox = Sandbox(level=request.param, concurrency=1)
    try:
        return sandbox.start()
    except ServiceError as error:
        pytest.skip(f"not permitted on this machine: {error.where}")
    finally:
        asyncio.run(sandbox.close())


def judging(level: str, limits: Limits) -> Iterator[Judge]:
    with asyncio.Runner() as loop:
        runner = CodeRunner(limits, concurrency=1, level=level)
        yield lambda code: loop.run(runner.run(GOLD, code))
        loop.run(runner.close())


@pytest.fixture(scope="module")
def judge(level: str) -> Iterator[Judge]:
    yield from judging(level, LIMITS)


@pytest.fixture(scope="module")
def hasty(level: str) -> Iterator[Judge]:
    yield from judging(level, HASTY)


@pytest.fixture(scope="module", autouse=True)
def honest(judge: Judge, hasty: Judge) -> Iterator[None]:
    """What is right passes, before all attacks and after them."""
    for each in (judge, hasty):
        assert each(RIGHT).passed is True
    yield
    for each in (judge, hasty):
        assert each(RIGHT).passed is True


def fails(outcome: CodeOutcome) -> None:
    assert outcome.passed is False, outcome
    assert outcome.detail


@pytest.mark.parametrize("where", ["def f(x):\n    ", "", "import sys\nsys.stdout.write('\\ud800')\n"])
def test_what_a_program_says_can_be_written_down(judge: Judge, where: str) -> None:
    """Half a surrogate pair in a message would else end whoever writes it: a training, or the prompt that mends it."""
    outcome = judge(f"{where}raise ValueError('\\ud800')")
    fails(outcome)
    assert outcome.detail.encode()


@pytest.mark.parametrize("name", ENDS_EARLY)
def test_what_ends_before_the_tests_fails(judge: Judge, name: str) -> None:
    fails(judge(ENDS_EARLY[name]))


@pytest.mark.parametrize("name", LIES)
def test_what_lies_fails(judge: Judge, name: str) -> None:
    fails(judge(LIES[name]))


@pytest.mark.parametrize("name", HARNESS)
def test_what_reaches_for_the_harness_fails(judge: Judge, name: str) -> None:
    fails(judge(HARNESS[name]))


@pytest.fixture(scope="module")
def outside() -> Iterator[tuple[str, Path, socket.socket]]:
    """Source that tells a program what there is to reach; a file that anybody may write; a server."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as server:
        os.chmod(folder, 0o755)
        secret, target = Path(folder, "secret"), Path(folder, "target")
        secret.write_text("s")
        secret.chmod(0o600)
        target.touch()
        target.chmod(0o666)
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        yield f"PORT = {server.getsockname()[1]}\nSECRET = {str(secret)!r}\nTARGET = {str(target)!r}\n", target, server


@pytest.mark.parametrize("name", LIMITS_MET)
def test_what_wants_more_than_it_may_have_fails(
    judge: Judge, level: str, outside: tuple[str, Path, socket.socket], name: str
) -> None:
    about, target, server = outside
    linked = name in ("reads a link to a secret", "follows the root", "writes through a link")
    if linked and level == "filter" and os.geteuid() != 0:
        pytest.skip("a plain user without namespaces may lack Landlock")
    fails(judge(about + LIMITS_MET[name]))
    assert target.read_bytes() == b""
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_ended(hasty: Judge, name: str) -> None:
    outcome = hasty(ENDLESS[name])
    fails(outcome)
    assert outcome.reason in ("time_limit", "failed", "raised", "spoiled", "ended")


def test_background_threads_of_a_right_program_do_not_hold_it_up(judge: Judge) -> None:
    threads = "import threading, time\nthreading.Thread(target=time.sleep, args=(10**6,)).start()\n"
    assert judge(threads + RIGHT).passed is True


def test_a_passing_program_whose_end_is_ugly_has_passed_its_tests(judge: Judge) -> None:
    ugly = "import atexit, os\natexit.register(os.abort)\n"
    assert judge(ugly + RIGHT).passed is True


def test_nothing_of_one_program_is_left_for_the_next(judge: Judge) -> None:
    left = "import os\nopen('left', 'w').write('x')\nimport math\nmath.left = True\n"
    looks = "import os, math\nassert os.listdir('.') == [] and not hasattr(math, 'left')\n"
    assert judge(left + RIGHT).passed is True
    assert judge(looks + RIGHT).passed is True


VARIED = """
class Varied:
    told = 0
    def __float__(self):
        self.told += 1
        return [0.0, 3.0, 1.0][self.told - 1]
    __int__ = __index__ = __complex__ = __float__
def f(x): return Varied()
"""
STOPS = "def f(x): raise StopIteration"


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        # HumanEval 32 adds up the powers of the answer: one that is another number each time is a root of anything.
        ("import math\nx = f(1)\nassert math.pow(x, 1) == 0 and math.pow(x, 2) == 9", VARIED),
        ("assert all(map(lambda case: f(case[0]) == case[1], [(1, 2), (2, 4)]))", STOPS),
        ("assert f is not None\nfor found in map(f, [1, 2]):\n    assert found == 2", STOPS),
    ],
    ids=["a number that changes", "all ends early", "a loop ends early"],
)
def test_what_only_other_tests_fall_for(level, tests, code):
    async def outcome() -> CodeOutcome:
        runner = CodeRunner(LIMITS, concurrency=1, level=level)
        try:
            return await runner.run(CodeGold("custom_code", "", None, tests), code)
        finally:
            await runner.close()

    assert asyncio.run(outcome()).passed is False


@pytest.mark.parametrize(
    "value", ['["l",' * 250 + "1" + "]" * 250, '["l",' + "1," * 1_100_000 + "1]"], ids=["deep", "of many parts"]
)
def test_what_cannot_be_given_back_is_the_programs_fault(level, value):
    """Else the tests, which hand it on, would seem to be at fault, and a wrong program would not count."""
    code = f"""
import os
def f(x):
    data = ('{{"v":' + {value!r} + '}}').encode()
    os.write(4, len(data).to_bytes(4, "big"))
    while data:
        data = data[os.write(4, data):]
def g(x): return 3
"""

    async def outcome() -> CodeOutcome:
        runner = CodeRunner(LIMITS, concurrency=1, level=level)
        try:
            return await runner.run(CodeGold("custom_code", "", None, "assert g(f(1)) == 3"), code)
        finally:
            await runner.close()

    found = asyncio.run(outcome())
    assert (found.passed, found.reason) == (False, "spoiled")


def test_stop_iteration_that_the_tests_expect(level):
    tests = "try:\n    f(1)\n    assert False\nexcept StopIteration:\n    assert True"

    async def outcome() -> CodeOutcome:
        runner = CodeRunner(LIMITS, concurrency=1, level=level)
        try:
            return await runner.run(CodeGold("custom_code", "", None, tests), STOPS)
        finally:
            await runner.close()

    assert asyncio.run(outcome()).passed is True
