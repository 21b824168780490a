"""The broker over real HTTP: what is the workflow's doing, what ends its execution, and what nobody can help."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from scripted_executor import DOUBLE, PLENTY, SUM, Model, broker, completion, executor, spec

from components.core.errors import ServiceError
from components.core.spec.judge_limits import JudgeBudget, JudgeLimits, JudgePrice
from components.judge.memory import Ledger
from components.sandbox.sandbox import Sandbox
from components.workflow.broker.broker import Broker
from components.workflow.errors import AbstainError, BudgetError, OperatorError, OperatorReason
from components.workflow.operators import REGISTRY
from components.workflow.types import Budget, Cost, Problem

CUSTOM = {"input": "What is 40 + 2?", "instruction": "Be brief."}
FILTERED = {"error": {"code": "content_filter", "message": "no"}}


def budget(**limits: Any) -> Budget:
    return Budget(**{"calls": 50, "tokens": 10**6, "seconds": 300.0, "bytes": 1 << 20, **limits})


async def no_server() -> str:
    """The address of nobody."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((500, {"error": "broken"}), "judge_down"),
        ((503, {"error": "starting"}), "judge_down"),
        ((429, {"error": "slow down"}), "judge_down"),
        ((400, {"error": {"message": "no such field"}}), "rejected"),
        ((401, {"error": "who are you"}), "rejected"),
        ((400, FILTERED), "refused"),
        ((200, completion("half", "content_filter")), "refused"),
        ((200, completion(None, "stop", refusal="I will not.")), "refused"),
        ((200, completion("half", None)), "no_finish"),
        ((200, completion("half", "abort")), "judge_down"),
        ((200, completion(42)), "unparseable"),
        ((200, completion("x" * 10**6)), "unparseable"),
        ((200, {"choices": []}), "unparseable"),
        ((200, b"<html>busy</html>"), "unparseable"),
        ((200, b'{"choices": [{"index": 0, "mess'), "unparseable"),
    ],
    ids=lambda value: json.dumps(value, default=str)[:40],
)
async def test_trouble_of_the_model_abstains_and_never_answers(reply: Any, reason: str) -> None:
    hasty = spec(limits=JudgeLimits(sample_deadline_seconds=1.0))
    async with broker(Model(reply), described=hasty) as made:
        with pytest.raises(AbstainError) as caught:
            await made.call("Custom", CUSTOM)
        assert caught.value.reason == reason
        # Nothing that the workflow does afterwards brings it back.
        with pytest.raises(AbstainError):
            await made.call("Custom", {"input": "another", "instruction": ""})
        (call,) = made.trace
        assert call.outputs is None
        assert str(call.error).startswith(f"abstained: {reason}")


async def test_a_model_that_is_not_there_abstains() -> None:
    hasty = spec(limits=JudgeLimits(sample_deadline_seconds=1.0))
    async with executor(await no_server(), described=hasty) as made:
        with pytest.raises(AbstainError) as caught:
            await Broker(made, PLENTY, SUM).call("Custom", CUSTOM)
    assert caught.value.reason == "judge_down"


async def test_a_model_that_is_flooded_is_waited_for() -> None:
    async with broker(Model((429, {}), (503, {}), (500, {}), "42")) as made:
        assert await made.call("Custom", CUSTOM) == {"response": "42"}
        assert made.cost.calls == 1


async def test_the_runs_own_budget_abstains() -> None:
    async with broker(Model("42"), described=spec(budget=JudgeBudget(calls=1))) as made:
        await made.call("Custom", CUSTOM)
        with pytest.raises(AbstainError) as caught:
            await made.call("Custom", CUSTOM)
    assert caught.value.reason == "budget"


async def test_a_sandbox_that_cannot_be_had_abstains(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nowhere(*_: Any, **__: Any) -> Any:
        raise ServiceError("no isolation here")

    monkeypatch.setattr(Sandbox, "run", nowhere)
    reply = "```python\ndef solve():\n    return 42\n```"
    for operator, arguments in (
        ("Programmer", {"problem": "p"}),
        ("Test", {"problem": "p", "solution": "def double(x): return 2 * x", "entry_point": "double"}),
    ):
        async with broker(Model(reply), DOUBLE) as made:
            with pytest.raises(AbstainError) as caught:
                await made.call(operator, arguments)
        assert caught.value.reason == "sandbox"


async def test_tests_that_cannot_be_run_abstain() -> None:
    problem = Problem("code", "mbpp", "Double.", "double", "assert double(2 == 4")
    arguments = {"problem": "Double.", "solution": "def double(x): return 2 * x", "entry_point": "double"}
    async with broker(Model("unused"), problem) as made:
        with pytest.raises(AbstainError) as caught:
            await made.call("Test", arguments)
    assert caught.value.reason == "tests"


async def test_a_prompt_that_the_model_cannot_read_is_the_workflows_doing() -> None:
    model = Model("42")
    async with broker(model) as made:
        with pytest.raises(OperatorError) as caught:
            await made.call("Custom", {"input": "word " * 5000, "instruction": ""})
        assert caught.value.reason is OperatorReason.TOO_LONG
        assert not model.prompts
        assert made.cost == Cost(0, 0, 0, 0.0, None)
        # It may go on, with less.
        assert await made.call("Custom", CUSTOM) == {"response": "42"}


async def test_an_empty_prompt_is_the_workflows_doing() -> None:
    """Servers that refuse it would make the workflow abstain, in the place of failing."""
    model = Model((400, {"error": {"message": "prompt is empty"}}))
    async with broker(model) as made:
        with pytest.raises(OperatorError) as caught:
            await made.call("Custom", {"input": " ", "instruction": "\n"})
        assert made.cost.calls == 0
    assert caught.value.reason is OperatorReason.ARGUMENTS
    assert model.prompts == []


async def test_a_prompt_that_the_server_finds_too_long_is_the_workflows_doing() -> None:
    # As vLLM writes it; by words alone nothing could be told before.
    told = {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": 400}}
    async with broker(Model((400, told))) as made:
        with pytest.raises(OperatorError) as caught:
            await made.call("Custom", CUSTOM)
    assert caught.value.reason is OperatorReason.TOO_LONG


async def test_calls_tokens_time_and_money_are_counted() -> None:
    price = JudgePrice(prompt=2.0, completion=8.0, currency="EUR")
    async with broker(Model("42"), described=spec(price=price)) as made:
        await made.call("Custom", CUSTOM)
        await made.call("Custom", {**CUSTOM, "input": "another"})
        cost = made.cost
        first, second = made.trace
    # The server counts 100 and 10 tokens a call: 100 * 2 + 10 * 8 = 280 a million.
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens) == (2, 200, 20)
    assert cost.money == pytest.approx(2 * 280e-6)
    assert cost.seconds > 0
    assert first.cost + second.cost == cost


async def test_a_reply_that_came_to_nothing_took_its_time() -> None:
    async with broker(Model("")) as made:
        with pytest.raises(OperatorError) as caught:
            await made.call("Custom", CUSTOM)
        assert caught.value.reason is OperatorReason.EMPTY_REPLY
        assert made.cost.prompt_tokens > 0
        assert made.cost.seconds > 0


async def test_tokens_of_a_server_that_counts_none_are_not_free() -> None:
    silent = {**completion("forty-two"), "usage": None}
    async with broker(Model((200, silent))) as made:
        await made.call("Custom", {"input": "x" * 400, "instruction": ""})
    # Four bytes a token: 400 of the prompt, 9 of the reply.
    assert (made.cost.prompt_tokens, made.cost.completion_tokens) == (100, 3)


@pytest.mark.parametrize(("text", "finish"), [("", "stop"), ("", "length")])
async def test_replies_that_came_to_nothing_cost_what_they_took(text: str, finish: str) -> None:
    async with broker(Model((200, completion(text, finish)))) as made:
        with pytest.raises(OperatorError):
            await made.call("Custom", CUSTOM)
    assert (made.cost.calls, made.cost.prompt_tokens) == (1, 100)


async def test_a_kept_reply_costs_its_tokens_again(tmp_path: Path) -> None:
    model = Model("42", "43")
    costs, answers = [], []
    async with model.serve() as url:
        for _ in range(2):
            async with executor(url, state=tmp_path) as made:
                asked = Broker(made, PLENTY, SUM)
                answers.append([(await asked.call("Custom", CUSTOM))["response"] for _ in range(2)])
                costs.append((asked.cost.calls, asked.cost.tokens))
    # A question that is put twice is two draws; the next execution has the same two again.
    assert answers == [["42", "43"], ["42", "43"]]
    assert costs == [(2, 220), (2, 220)]
    assert len(model.prompts) == 2


async def test_the_ledger_knows_which_operator_asked(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger") as ledger:
        async with broker(Model("42", "<solution>42</solution>"), ledger=ledger) as made:
            await made.call("Custom", CUSTOM)
            await made.call("Format", {"problem": "p", "solution": "s"})
        rows = ledger.calls()
    assert [row.protocol for row in rows] == [REGISTRY["Custom"].version, REGISTRY["Format"].version]
    assert [row.judge for row in rows] == ["scripted", "scripted"]


async def test_layer_two_stands_in_the_prompt_and_in_the_trace() -> None:
    def enhance(operator: str, problem: Problem) -> str | None:
        return f"{operator} on {problem.domain}: check units.\n" if operator == "Custom" else None

    model = Model("42", "<solution>42</solution>")
    async with broker(model, enhance=enhance) as made:
        await made.call("Custom", CUSTOM)
        await made.call("Format", {"problem": "p", "solution": "s"})
    assert model.prompts[0] == "Custom on math: check units.\n\nBe brief.\n\nWhat is 40 + 2?"
    assert "check units" not in model.prompts[1]
    assert [call.enhancement for call in made.trace] == ["Custom on math: check units.", None]


async def test_an_enhancement_that_no_prompt_bore_is_not_in_the_trace() -> None:
    arguments = {"problem": "p", "solution": "def double(x): return 2 * x", "entry_point": "double"}
    async with broker(Model("unused"), DOUBLE, enhance=lambda *_: "Check units.") as made:
        assert (await made.call("Test", arguments))["result"] is True
    assert made.trace[0].enhancement is None


@pytest.mark.parametrize(
    ("limits", "limit", "answered"),
    [
        ({"calls": 2}, "calls", 2),
        # 110 tokens a call: the third goes over 300.
        ({"tokens": 300}, "tokens", 2),
        ({"tokens": 330}, "tokens", 3),
        ({"seconds": 1e-9}, "seconds", 0),
        # Names, texts and the reply: 5 + 15 + 11 + 9 bytes there, 8 + 2 back.
        ({"bytes": 100}, "bytes", 2),
        ({"bytes": 99}, "bytes", 1),
    ],
)
async def test_a_workflow_that_goes_over_its_budget_has_ended(
    limits: dict[str, Any], limit: str, answered: int
) -> None:
    model = Model("42")
    async with broker(model, budget=budget(**limits)) as made:
        for _ in range(answered):
            await made.call("Custom", CUSTOM)
        for _ in range(2):
            with pytest.raises(BudgetError) as caught:
                await made.call("Custom", CUSTOM)
            assert caught.value.limit == limit
        asked = len(model.prompts)
        with pytest.raises(BudgetError):
            await made.call("Format", {"problem": "p", "solution": "s"})
        assert len(model.prompts) == asked
        assert len(made.trace) == answered + 1
        assert made.trace[-1].outputs is None


async def test_the_model_calls_of_one_operator_count_too() -> None:
    model = Model("<letter>A</letter>")
    async with broker(model, budget=budget(calls=4)) as made:
        with pytest.raises(BudgetError) as caught:
            await made.call("MdEnsemble", {"solutions": ["x", "y"], "problem": "p"})
    assert caught.value.limit == "calls"
    assert len(model.prompts) <= 4


async def test_refused_calls_use_up_the_budget_of_calls() -> None:
    async with broker(Model("42"), budget=budget(calls=3)) as made:
        for _ in range(3):
            with pytest.raises(OperatorError):
                await made.call("Nothing", {})
        with pytest.raises(BudgetError):
            await made.call("Nothing", {})


async def test_calls_at_once_are_traced_in_the_order_in_which_they_began() -> None:
    model = Model(by=lambda prompt: prompt.rpartition("\n")[2])
    async with broker(model) as made:
        found = await asyncio.gather(
            *(made.call("Custom", {"input": str(number), "instruction": ""}) for number in range(20))
        )
    assert [each["response"] for each in found] == [str(number) for number in range(20)]
    assert [call.arguments["input"] for call in made.trace] == [str(number) for number in range(20)]
    assert made.cost.calls == 20


async def test_a_call_that_its_caller_gives_up_is_in_the_trace() -> None:
    async with broker(Model("42"), problem=SUM) as made:
        task = asyncio.ensure_future(made.call("Custom", CUSTOM))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (call,) = made.trace
    assert (call.outputs, call.error) == (None, "not finished")


async def test_a_question_that_its_caller_gives_up_is_not_free() -> None:
    """Whoever asks often and takes the first reply would else pay for one question."""
    came = asyncio.Event()

    async def never(request: web.Request) -> web.Response:
        came.set()
        await asyncio.sleep(600)
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/chat/completions", never)
    prompt = "x" * 4000
    async with TestServer(app) as server, executor(str(server.make_url("")).rstrip("/")) as model:
        made = Broker(model, PLENTY, SUM)
        task = asyncio.ensure_future(made.call("Custom", {"input": prompt, "instruction": ""}))
        await came.wait()
        assert made.cost.tokens == 0
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    # Four bytes a token, as where a server counts none.
    assert made.cost == Cost(1, 1000, 0, 0.0, None) == made.trace[0].cost


@pytest.mark.parametrize("limits", [{"calls": 0}, {"tokens": -1}, {"seconds": 0.0}, {"bytes": 0}])
def test_a_budget_without_anything_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        budget(**limits)
