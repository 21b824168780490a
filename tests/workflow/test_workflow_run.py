"""What came of a run is told apart: answered, failed by the program's doing, abstained by what it cannot help."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from workflow_programs import PROGRAMS
from workflow_signatures import SIGNATURES, fenced

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind
from components.workflow.contract.outcome import Form, Plan
from components.workflow.contract.validate import validate
from components.workflow.errors import AbstainError, BudgetError, OperatorError, OperatorReason
from components.workflow.run.execution import Execution, Status
from components.workflow.run.executor import Executor
from components.workflow.types import Budget, Call, Cost, Problem

LIMITS = Limits(cpu_seconds=2, wall_seconds=60.0, memory_bytes=256 << 20, output_bytes=10_000, value_bytes=50_000)
BUDGET = Budget(calls=10, tokens=10_000, seconds=60.0, bytes=1_000_000)
PROBLEM = Problem("code", "humaneval", "double it", "double", "assert double(1) == 2")
NOTHING = Cost(0, 0, 0, 0.0, None)

Answering = Callable[[str, Mapping[str, Any]], Any]


class Broker:
    """Answers as it is told to; each call takes 7 tokens."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self.trace: list[Call] = []
        self.cost = NOTHING
        self.cancelled = 0

    async def call(self, operator: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            found = self._answering(operator, arguments)
            outputs = await found if asyncio.iscoroutine(found) else found
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.cost = dataclasses.replace(
            self.cost, calls=self.cost.calls + 1, prompt_tokens=self.cost.prompt_tokens + 7, seconds=1.5
        )
        self.trace.append(Call(operator, dict(arguments), outputs, None, NOTHING, None))
        return outputs


def plain(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The first candidate of an ensemble; of others a text that names the operator and the output."""
    if "solutions" in arguments:
        return {SIGNATURES[operator].outputs[0]: arguments["solutions"][0]}
    told: dict[str, Any] = {name: f"{operator}.{name}" for name in SIGNATURES[operator].outputs}
    return {name: True if name in ("result", "review_result") else value for name, value in told.items()}


Run = Callable[[Plan], Execution]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """One execution of an executor that all tests share: none may harm the next."""
    with asyncio.Runner() as loop:
        one = Executor(lambda *_: Broker(plain), SIGNATURES, limits=LIMITS, concurrency=1, own_seconds=2.0)
        yield lambda plan: loop.run(one.run(plan, PROBLEM, BUDGET))
        loop.run(one.close())


@pytest.fixture
async def executor() -> AsyncIterator[Callable[..., Executor]]:
    """Makes executors, which are closed in the end."""
    made: list[Executor] = []

    def make(answering: Answering = plain, **named: Any) -> Executor:
        brokers: list[Broker] = []

        def broker(problem: Problem, budget: Budget) -> Broker:
            brokers.append(Broker(answering))
            return brokers[-1]

        made.append(Executor(broker, SIGNATURES, **{"limits": LIMITS, "concurrency": 2, "own_seconds": 20.0, **named}))
        made[-1].made = brokers  # type: ignore[attr-defined]
        return made[-1]

    yield make
    for each in made:
        await each.close()


def program(body: str, head: str = "") -> Plan:
    """A program that nobody has validated, with this body of ``__call__``."""
    lines = "\n".join(f"        {line}" for line in body.strip("\n").split("\n"))
    source = (
        f"import asyncio, random\n{head}\nclass Workflow:\n    def __init__(self, name, llm_config, dataset):\n"
        "        self.llm = create_llm(llm_config)\n        self.custom = operator.Custom(self.llm)\n"
        f"        self.dataset = dataset\n    async def __call__(self, problem):\n{lines}\n"
    )
    return Plan(source, Form.EXACT, False, (), "")


def failed(execution: Execution, reason: str) -> None:
    assert (execution.status, execution.reason) == (Status.FAILED, reason), execution
    assert execution.answer is None
    assert execution.claimed is None
    assert execution.detail


async def test_templates_answer_and_what_they_cost_is_metered_outside(executor: Callable[..., Executor]) -> None:
    """Three drafts at once, then one call after the other; by hand from the templates."""
    expected = {
        "math": (["Custom"] * 3 + ["Programmer", "ScEnsemble"], "Custom.response"),
        "code": (["Custom"] + ["CustomCodeGenerate"] * 3 + ["ScEnsemble", "Test"], "Test.solution"),
        "qa": (["AnswerGenerate"] * 3 + ["ScEnsemble", "Custom"], "Custom.response"),
    }
    one = executor()
    for domain, (operators, answer) in expected.items():
        plan = validate(fenced(PROGRAMS[domain]), SIGNATURES)
        assert isinstance(plan, Plan)
        found = await one.run(plan, PROBLEM, BUDGET)
        assert (found.status, found.answer, found.reason) == (Status.ANSWERED, answer, None), found
        assert [call.operator for call in found.trace] == operators
        assert found.cost == Cost(len(operators), 7 * len(operators), 0, 1.5, None)
        assert found.claimed == 7 * len(operators)
    tested = next(call for call in one.made[1].trace if call.operator == "Test")  # type: ignore[attr-defined]
    assert tested.arguments == {
        "problem": "double it",
        "solution": "CustomCodeGenerate.response",
        "entry_point": "double",
    }


async def test_other_programs_answer(executor: Callable[..., Executor]) -> None:
    one = executor()
    for name, answer in (("revised", "Custom.response"), ("tasks", "AnswerGenerate.answer")):
        plan = validate(fenced(PROGRAMS[name]), SIGNATURES)
        assert isinstance(plan, Plan)
        assert (await one.run(plan, PROBLEM, BUDGET)).answer == answer


async def test_calls_run_at_once(executor: Callable[..., Executor]) -> None:
    """Five calls that each wait for the other four."""
    barrier = asyncio.Barrier(5)

    async def together(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        await barrier.wait()
        return {"response": arguments["input"]}

    body = "d = await asyncio.gather(*[self.custom(str(n), 'x') for n in range(5)])\n"
    body += "return ''.join(each['response'] for each in d), 0"
    assert (await executor(together).run(program(body), PROBLEM, BUDGET)).answer == "01234"


async def test_executions_at_once_have_brokers_of_their_own(executor: Callable[..., Executor]) -> None:
    one = executor()
    plan = program("r = await self.custom(problem, 'x')\nreturn problem, 0")
    problems = [dataclasses.replace(PROBLEM, text=str(number)) for number in range(4)]
    found = await asyncio.gather(*(one.run(plan, problem, BUDGET) for problem in problems))
    assert [each.answer for each in found] == ["0", "1", "2", "3"]
    assert [each.trace[0].arguments["input"] for each in found] == ["0", "1", "2", "3"]


async def test_what_the_program_claims_as_its_cost_counts_for_nothing(executor: Callable[..., Executor]) -> None:
    body = "self.llm._link.tokens = -5\nr = await self.custom(problem, 'x')\nreturn r['response'], 0.0"
    found = await executor().run(program(body), PROBLEM, BUDGET)
    assert (found.status, found.claimed, found.cost.tokens) == (Status.ANSWERED, 0.0, 7)


def refuse(operator: str, arguments: Mapping[str, Any]) -> Any:
    if arguments["instruction"] == "wrong":
        raise OperatorError(OperatorReason.WRONG_LETTER, "no candidate Q")
    return {"response": "right"}


async def test_an_operators_error_can_be_caught_and_else_fails(executor: Callable[..., Executor]) -> None:
    one = executor(refuse)
    caught = (
        "try:\n    r = await self.custom(problem, 'wrong')\nexcept OperatorError as error:\n    kept = error.reason\n"
    )
    body = caught + "r = await self.custom(problem, 'right')\nreturn r['response'] + kept, 0"
    assert (await one.run(program(body), PROBLEM, BUDGET)).answer == "rightwrong_letter"
    found = await one.run(program("r = await self.custom(problem, 'wrong')\nreturn r['response'], 0"), PROBLEM, BUDGET)
    failed(found, "exception")
    assert "wrong_letter: no candidate Q" in found.detail


async def test_an_answer_for_which_no_operator_gave_anything_is_none(executor: Callable[..., Executor]) -> None:
    one = executor(refuse)
    failed(await one.run(program("return '42', 0"), PROBLEM, BUDGET), "no_call")
    body = "try:\n    await self.custom(problem, 'wrong')\nexcept OperatorError:\n    return '42', 0"
    failed(await one.run(program(body), PROBLEM, BUDGET), "no_call")


CATCHES = """
try:
    r = await self.custom(problem, 'x')
    r = await self.custom(problem, 'over')
except BaseException:
    return 'a fallback', 0
return 'another', 0
"""


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (BudgetError("tokens", "10000 tokens are used"), Status.FAILED, "budget"),
        (AbstainError("judge_down", "the executor model does not answer"), Status.ABSTAINED, "judge_down"),
    ],
)
async def test_no_program_survives_its_budget_or_its_model(
    executor: Callable[..., Executor], error: Exception, status: Status, reason: str
) -> None:
    def over(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["instruction"] == "over":
            raise error
        return {"response": "x"}

    found = await executor(over).run(program(CATCHES), PROBLEM, BUDGET)
    assert (found.status, found.reason, found.answer) == (status, reason, None), found
    assert found.cost.tokens == 7


async def test_calls_beyond_the_budget_never_reach_the_broker(executor: Callable[..., Executor]) -> None:
    one = executor()
    body = "while True:\n    r = await self.custom(problem, 'x')\nreturn '', 0"
    found = await one.run(program(body), PROBLEM, BUDGET)
    failed(found, "budget")
    assert len(found.trace) == BUDGET.calls


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError(problem)", "exception"),
        ("raise SystemExit(0)", "exception"),
        ("return await self.missing(problem), 0", "exception"),
        ("import numpy\nreturn '', 0", "import_error"),
        ("while True: pass", "time_limit"),
        ("await asyncio.sleep(1000)\nreturn '', 0", "time_limit"),
        ("x = 'x' * (1 << 30)\nreturn x, 0", "memory_limit"),
        ("print('x' * 100000)\nreturn '', 0", "output_limit"),
        ("r = await self.custom(problem, 'x')\nreturn 'x' * 100000, 0", "output_limit"),
        ("random._os._exit(0)", "ended"),
        ("import ctypes\nctypes.string_at(0)", "ended"),
        ("random._os.write(3, b'Rvalue')\nawait asyncio.sleep(9)", "ended"),
        ("self.custom = operator.Custom('a model of its own')\nreturn '', 0", "exception"),
        ("self.llm = create_llm({'model': 'another'})\nreturn '', 0", "exception"),
        ("await self.custom(problem, {1, 2})\nreturn '', 0", "exception"),
        ("await self.custom(problem, float('nan'))\nreturn '', 0", "exception"),
        ("await self.custom(problem, 'x', 'y')\nreturn '', 0", "exception"),
        ("await self.custom(problem, input='x')\nreturn '', 0", "exception"),
    ],
)
def test_what_a_program_does_to_itself_fails(run: Run, body: str, reason: str) -> None:
    failed(run(program(body)), reason)


@pytest.mark.parametrize(
    "value",
    [
        "r['response']",
        "(r['response'], 0, 0)",
        "[r['response'], 0]",
        "(r, 0)",
        "(None, 0)",
        "(True, 0)",
        "(float('nan'), 0)",
        "(10 ** 5000, 0)",
        "('\\ud800', 0)",
        "(b'x', 0)",
        "('x', None)",
        "('x', 'free')",
        "('x', -1)",
        "('x', True)",
        "('x', float('inf'))",
        "('x', 10 ** 400)",
        "type('T', (tuple,), {})(('x', 0))",
        "(type('S', (str,), {})('x'), 0)",
    ],
)
def test_what_is_no_pair_of_answer_and_cost_fails(run: Run, value: str) -> None:
    failed(run(program(f"r = await self.custom(problem, 'x')\nreturn {value}")), "bad_return")


@pytest.mark.parametrize(("value", "answer"), [("42", "42"), ("2.5", "2.5"), ("''", ""), ("'é\\n'", "é\n")])
def test_answers_are_texts_and_numbers(run: Run, value: str, answer: str) -> None:
    found = run(program(f"await self.custom(problem, 'x')\nreturn {value}, 0"))
    assert (found.status, found.answer) == (Status.ANSWERED, answer)


async def test_calls_under_way_end_with_the_program(executor: Callable[..., Executor]) -> None:
    async def slow(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["instruction"] == "slow":
            await asyncio.sleep(600)
        return {"response": "quick"}

    one = executor(slow)
    body = "t = asyncio.create_task(self.custom(problem, 'slow'))\nawait asyncio.sleep(0)\n"
    body += "r = await self.custom(problem, 'x')\nreturn r['response'], 0"
    assert (await one.run(program(body), PROBLEM, BUDGET)).answer == "quick"
    assert one.made[0].cancelled == 1  # type: ignore[attr-defined]


async def test_a_model_that_never_answers_abstains(executor: Callable[..., Executor]) -> None:
    async def never(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(600)
        return {}

    one = executor(never, limits=dataclasses.replace(LIMITS, wall_seconds=3.0), own_seconds=2.5)
    found = await one.run(program("await self.custom(problem, 'x')\nreturn '', 0"), PROBLEM, BUDGET)
    assert (found.status, found.reason) == (Status.ABSTAINED, "executor_stalled"), found


async def test_a_failing_sandbox_abstains(executor: Callable[..., Executor], monkeypatch: pytest.MonkeyPatch) -> None:
    one = executor()

    async def killed(*_: object, **__: object) -> Failure:
        return Failure(FailureKind.KILLED, "ended by SIGKILL", 1.0)

    async def missing(*_: object, **__: object) -> Failure:
        raise ServiceError("untrusted code cannot be isolated on this machine")

    for each in (killed, missing):
        monkeypatch.setattr(one._sandbox, "run", each)
        found = await one.run(program("return '', 0"), PROBLEM, BUDGET)
        assert (found.status, found.reason) == (Status.ABSTAINED, "sandbox")


async def test_a_mistake_of_ours_in_a_call_is_no_outcome(executor: Callable[..., Executor]) -> None:
    def broken(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError("of the broker")

    with pytest.raises(ZeroDivisionError):
        await executor(broken).run(program("await self.custom(problem, 'x')\nreturn '', 0"), PROBLEM, BUDGET)


async def test_programs_never_get_the_tests(executor: Callable[..., Executor]) -> None:
    """Not what the interpreter's memory holds under any name, either."""
    body = (
        "import gc\nneedle = 'double(1) ' + '== 2'\nr = await self.custom(problem, 'x')\n"
        "texts = [v for o in gc.get_objects() if isinstance(o, dict) for v in o.values() if type(v) is str]\n"
        "texts += [v for o in gc.get_objects() if isinstance(o, (list, tuple)) for v in o if type(v) is str]\n"
        "return str(sum(needle in each and each != needle for each in texts)) + ' of ' + str(any(\n"
        "    each == problem for each in texts)), 0"
    )
    assert (await executor().run(program(body), PROBLEM, BUDGET)).answer == "0 of True"


async def test_an_execution_that_nobody_waits_for_makes_room(executor: Callable[..., Executor]) -> None:
    """The only slot is free again, and the call under way is over."""
    begun = asyncio.Event()

    async def slow(operator: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if arguments["instruction"] == "slow":
            begun.set()
            await asyncio.sleep(600)
        return {"response": "quick"}

    one = executor(slow, concurrency=1)
    waiting = asyncio.create_task(one.run(program("await self.custom(problem, 'slow')\nreturn '', 0"), PROBLEM, BUDGET))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert one.made[0].cancelled == 1  # type: ignore[attr-defined]
    found = await one.run(program("r = await self.custom(problem, 'x')\nreturn r['response'], 0"), PROBLEM, BUDGET)
    assert found.answer == "quick"
