"""Attacks by way of the workflow: on the socket, on what is outside, and on the validator. At both levels of isolation.

Programs reach the system calls through what an allowed module has imported; validation does not see that, and need not.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from workflow_programs import PROGRAMS
from workflow_signatures import SIGNATURES, fenced

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind
from components.sandbox.sandbox import Sandbox
from components.workflow.contract.outcome import Form, Invalid, InvalidReason, Plan
from components.workflow.contract.validate import validate
from components.workflow.contract.validator import Validator
from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.run.execution import Execution, Status
from components.workflow.run.executor import Executor
from components.workflow.run.messages import LONGEST, ProtocolError, read
from components.workflow.types import Budget, Call, Cost, Problem

LIMITS = Limits(cpu_seconds=2, wall_seconds=30.0, memory_bytes=256 << 20, file_bytes=1 << 20, output_bytes=10_000)
BUDGET = Budget(calls=20, tokens=10_000, seconds=60.0, bytes=1_000_000)
PROBLEM = Problem("math", "gsm8k", "1 + 1", None, None)
Run = Callable[[str], Execution]


class Broker:
    """Takes every call; of unknown operators it says so."""

    def __init__(self) -> None:
        self.trace: list[Call] = []
        self.cost = Cost(0, 0, 0, 0.0, None)
        self.seen: list[tuple[str, Mapping[str, Any]]] = []

    async def call(self, operator: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.seen.append((operator, arguments))
        if operator not in SIGNATURES:
            raise OperatorError(OperatorReason.UNKNOWN_OPERATOR, "no such operator")
        return {"response": "2"}


BROKERS: list[Broker] = []


@pytest.fixture(scope="module", params=["namespaces", "filter"])
def level(request: pytest.FixtureRequest) -> str:
    sandbox = Sandbox(level=request.param, concurrency=1)
    try:
        return sandbox.start()
    except ServiceError as error:
        pytest.skip(f"not permitted on this machine: {error.where}")
    finally:
        asyncio.run(sandbox.close())


@pytest.fixture(scope="module")
def run(level: str) -> Iterator[Run]:
    def broker(problem: Problem, budget: Budget) -> Broker:
        BROKERS.append(Broker())
        return BROKERS[-1]

    with asyncio.Runner() as loop:
        one = Executor(broker, SIGNATURES, limits=LIMITS, own_seconds=2.0, concurrency=1, level=level)
        honest = plan("r = await self.custom(problem, 'x')\nreturn r['response'], 0")
        assert loop.run(one.run(honest, PROBLEM, BUDGET)).answer == "2"
        yield lambda body: loop.run(one.run(plan(body), PROBLEM, BUDGET))
        assert loop.run(one.run(honest, PROBLEM, BUDGET)).answer == "2"
        loop.run(one.close())


def plan(body: str) -> Plan:
    """A program that keeps the contract."""
    lines = "\n".join(f"        {line}" for line in body.strip("\n").split("\n"))
    source = (
        "import asyncio, random, json\nclass Workflow:\n    def __init__(self, name, llm_config, dataset):\n"
        "        self.llm = create_llm(llm_config)\n        self.custom = operator.Custom(self.llm)\n"
        f"    async def __call__(self, problem):\n        os = random._os\n{lines}\n"
    )
    return Plan(source, Form.EXACT, False, (), "")


SEND = """
def send(data):
    data = len(data).to_bytes(4, 'big') + data
    while data:
        data = data[os.write(4, data):]
"""
STAY = "\nawait asyncio.sleep(60)\nreturn '2', 0"
GOOD = '{"id": 7, "operator": "Custom", "arguments": {}}'
PROTOCOL = {
    "a length of 4 GB": "os.write(4, b'\\xff' * 4)",
    "no JSON": f"{SEND}send(b'not JSON')",
    "half a message of another kind": f"{SEND}send(b'[]')",
    "no number": f"""{SEND}send(b'{GOOD.replace("7", "true")}')""",
    "a number beyond 64 bits": f"""{SEND}send(b'{GOOD.replace("7", "9" * 30)}')""",
    "a number of ten thousand digits": f"""{SEND}send(b'{GOOD}'.replace(b'7', b'9' * 10000))""",
    "no name": f"""{SEND}send(b'{GOOD.replace('"Custom"', "3")}')""",
    "arguments that are a list": f"""{SEND}send(b'{GOOD.replace("{}", "[]")}')""",
    "one field more": f"""{SEND}send(b'{GOOD.replace("7,", "7, " + chr(34) + "cost" + chr(34) + ": -9,")}')""",
    "not a number": f"""{SEND}send(b'{GOOD.replace("{}", '{"input": NaN}')}')""",
    "deep JSON": f"""{SEND}send(b'{GOOD}'.replace(b'{{}}', b'[' * 100000 + b']' * 100000))""",
    "a little too deep": f"""{SEND}send(b'{GOOD}'.replace(b'{{}}', b'{{"a":' * 9 + b'1' + b'}}' * 9))""",
    "half a surrogate pair": f"""{SEND}send(b'{GOOD.replace("{}", '{"input": "U"}')}'.replace(b'U', b'\\\\ud800'))""",
    "bytes that are no UTF-8": f"""{SEND}send(b'{GOOD}'.replace(b'Custom', b'\\xff'))""",
}


@pytest.mark.parametrize("name", PROTOCOL)
def test_what_is_no_call_ends_the_execution(run: Run, name: str) -> None:
    found = run(PROTOCOL[name] + STAY)
    assert (found.status, found.reason, found.answer) == (Status.FAILED, "protocol", None), found
    assert BROKERS[-1].seen == []


HARMLESS = {
    "no operator": f"""{SEND}send(b'{GOOD.replace("Custom", "__class__")}')\nawait asyncio.sleep(0.2)""",
    "the same number twice": f"{SEND}send(b'{GOOD}')\nsend(b'{GOOD}')\nawait asyncio.sleep(0.2)",
    "half a message": "os.write(4, b'\\0\\0\\1')",
    "an answer to itself": f"""{SEND}send(b'{GOOD}')\nself.llm._link.tokens = -1""",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_a_call_is_one_whoever_wrote_it(run: Run, name: str) -> None:
    """It then spoils its own replies at most: it answers, or fails."""
    found = run(HARMLESS[name] + "\nreturn 'mine', 0")
    assert found.status in (Status.ANSWERED, Status.FAILED)
    assert found.reason in (None, "no_call")


EXHAUSTING = {
    "calls without end": f"{SEND}while True:\n    send(b'{GOOD}')",
    "calls without end that nobody reads": (
        f"{SEND}while True:\n    send(b'{GOOD}'.replace(b'{{}}', b'{{\"input\": \"' + b'x' * 50000 + b'\"}}'))"
    ),
    "thousands at once": "await asyncio.gather(*[self.custom('x', 'y') for _ in range(5000)])",
}


@pytest.mark.parametrize("name", EXHAUSTING)
def test_the_broker_is_not_exhausted(run: Run, name: str) -> None:
    found = run(EXHAUSTING[name] + STAY)
    assert (found.status, found.reason) == (Status.FAILED, "budget"), found
    assert len(BROKERS[-1].seen) <= BUDGET.calls


def test_replies_that_are_not_read_take_the_programs_own_time(level: str) -> None:
    """A call is over when its operator is: nobody can hold a place for the whole wall time, and then abstain."""

    class Talking(Broker):
        async def call(self, operator: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            # More than the socket takes at once.
            return {"response": "x" * (1 << 22)}

    body = "import time\nasyncio.create_task(self.custom(problem, 'x'))\nawait asyncio.sleep(0)\ntime.sleep(60)"
    with asyncio.Runner() as loop:
        one = Executor(lambda *_: Talking(), SIGNATURES, limits=LIMITS, own_seconds=1.0, concurrency=1, level=level)
        found = loop.run(one.run(plan(body + "\nreturn '2', 0"), PROBLEM, BUDGET))
        loop.run(one.close())
    assert (found.status, found.reason, found.trace) == (Status.FAILED, "time_limit", ()), found
    assert "no operator was at work" in found.detail


def test_a_message_is_not_read_without_bound(run: Run) -> None:
    found = run(f"os.write(4, ({LONGEST} + 1).to_bytes(4, 'big'))" + STAY)
    assert (found.status, found.reason) == (Status.FAILED, "protocol")


SHUT_OUT = {
    "the network": "import socket\nsocket.create_connection(('127.0.0.1', 80), 1)",
    "a socket by its name": "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0x')",
    "another program": "os.execv('/bin/true', ['true'])",
    "a process": "os.fork()",
    "a file outside": "open('/etc/passwd').read()",
    "its parent": "os.kill(os.getppid(), 9)\nos.kill(-1, 0)\nraise OSError",
    "an environment": "assert not [n for n in os.environ if 'KEY' in n or 'SECRET' in n]\nraise OSError",
}


@pytest.mark.parametrize("name", SHUT_OUT)
def test_the_socket_is_the_only_way_out(run: Run, name: str, level: str) -> None:
    lines = "\n".join(f"    {line}" for line in SHUT_OUT[name].split("\n"))
    body = (
        f"r = await self.custom(problem, 'x')\ntry:\n{lines}\nexcept OSError:\n    return 'shut', 0\nreturn 'open', 0"
    )
    found = run(body)
    # What replaces its process by another program stays shut in, and has ended.
    assert found.answer == "shut" or (found.status is Status.FAILED and found.reason in ("ended", "exception")), found


@pytest.mark.parametrize(
    "body",
    [
        "import gc, builtins\nbuiltins.isinstance = lambda *a: True\njson.dumps = lambda *a, **k: '{}'\nreturn '2', 0",
        "import sys\nsys.modules.clear()\nreturn '2', 0",
        "asyncio.run = None\nself.llm._link._loop = None\nreturn '2', 0",
        "type(self.custom).__call__ = lambda *a, **k: None\nreturn '2', 0",
        "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.pop('_pair', 0)\n    f = f.f_back\nreturn '2', 0",
    ],
)
def test_no_change_of_the_stand_ins_makes_an_answer(run: Run, body: str) -> None:
    found = run(body)
    assert found.status is Status.FAILED, found
    assert found.cost.calls == 0


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"{}", b"1" * 5000, b'{"id":0,"operator":"x","arguments":null}'])
def test_no_bytes_but_those_of_a_call_are_one(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(data)


HOSTILE = {
    "brackets": "(" * 5000,
    "signs": "x = " + "-" * 15_000 + "1",
    "nots": "x = " + "not " * 4000 + "1",
    "attributes": "x = a" + ".a" * 9000,
    "lambdas": "x = " + "lambda:" * 2500 + "1",
    "powers": "x = " + "2**" * 5000 + "2",
    "a huge number": "x = " + "9" * 15_000,
    "a huge constant": "x = 'a' * 10**12\ny = 2 ** 10 ** 9\nz = (1,) * 10**9",
    "nested formats": "x = " + "f'{" * 30 + "1" + "}'" * 30,
    "subscripts": "x = a" + "[0]" * 5000,
    "comprehensions": "x = [1 " + "for a in b " * 1400 + "]",
    "decorators": "@a\n" * 5000 + "class Workflow: pass",
    "else ifs": "if a: pass\n" + "elif a: pass\n" * 1500,
    "dictionaries that never end": "{1:" * 49,
    "calls that never end": "a(b(" * 24 + "c=",
    "strings that never end": "x = '''" + "\\" * 5000,
    "null bytes": "class Workflow:\0",
    "lone surrogates": "class Workflow: x = '\ud800'",
    "odd line ends": "class Workflow:\r\x0c\r\v\x85\u2028 pass",
    "backslashes": "x = 1 + \\\n" * 1500 + "1",
    "encodings": "# -*- coding: utf-7 -*-\nclass Workflow: pass",
    "tabs": "class Workflow:\n" + "".join("\t" * n + "if 1:\n" for n in range(1, 120)),
    "strings side by side": "x = " + "'a' " * 4000,
    "patterns": "match a:\n case " + "[" * 49 + "]" * 49 + ": pass",
    "a number that Python reads and does not write": "x = 0x" + "f" * 15_000,
    "a text that Python reads and does not write": (
        "async def f(llm):\n    operator.Custom(f\"{'\u200b'}\")(input='', instruction='')\n"
    ),
    "thousands of warnings": "def f(x):\n" + "    x is 1\n" * 1000,
}
LAWFUL = ("a huge constant", "encodings", "strings side by side", "nested formats", "thousands of warnings")
"""Python, whatever it is worth; nested formats are from 3.12 on."""


@pytest.fixture(scope="module")
def validated(level: str) -> Iterator[Callable[[str], Plan | Invalid]]:
    limits = Limits(cpu_seconds=5, wall_seconds=20.0, memory_bytes=512 << 20, shut_files=True)
    with asyncio.Runner() as loop:
        one = Validator(SIGNATURES, limits, concurrency=1, level=level)
        yield lambda response: loop.run(one.validate(response))
        loop.run(one.close())


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_invalid_within_bounds(validated: Callable[[str], Plan | Invalid], name: str) -> None:
    for response in (fenced(HOSTILE[name]), fenced(PROGRAMS["qa"] + "\n" + HOSTILE[name])):
        found = validated(response)
        assert isinstance(found, Invalid | Plan)
        if name not in LAWFUL:
            assert isinstance(found, Invalid), found


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_sandbox_finds_what_is_found_here(validated: Callable[[str], Plan | Invalid], name: str) -> None:
    for response in (fenced(PROGRAMS[name]), fenced(PROGRAMS[name]).replace("await", "", 1), PROGRAMS[name]):
        assert validated(response) == validate(response, SIGNATURES)


def test_nothing_is_run_by_validating(validated: Callable[[str], Plan | Invalid]) -> None:
    found = validated(fenced("raise SystemExit\n" + PROGRAMS["qa"]))
    assert isinstance(found, Invalid)
    assert found.reason is InvalidReason.MODULE_STATEMENT
    loud = PROGRAMS["qa"].replace("self.name = name", "while True: self.name = name")
    assert isinstance(validated(fenced(loud)), Plan)


async def test_what_a_validation_cannot_find_out_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Validator(SIGNATURES, concurrency=1)
    for kind, raised in ((FailureKind.KILLED, True), (FailureKind.TIMEOUT, False), (FailureKind.CRASH, False)):

        async def ended(*_: object, kind: FailureKind = kind) -> Failure:
            return Failure(kind, "ended", 1.0)

        monkeypatch.setattr(one._sandbox, "run", ended)
        if raised:
            with pytest.raises(ServiceError):
                await one.validate("x")
        else:
            assert getattr(await one.validate("x"), "reason", None) is InvalidReason.TOO_COMPLEX
    await one.close()
