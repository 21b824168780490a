"""Every call of the probe and of the check is in a ledger, and under the judge's budget."""

import collections
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from chat_servers import ChatServer, completion, say
from judge_servers import REWARD, Scripted, fixed, good, spec

from components.core.errors import JudgeError
from components.core.spec.reward import RewardSpec
from components.judge.__main__ import main
from components.judge.check import check
from components.judge.memory import Ledger
from components.judge.probing.run import probe

CHAT = RewardSpec(name="r", protocol="rubric")
PRICE = {"prompt": 1.0, "completion": 2.0, "currency": "USD"}
MET = say(completion('{"c1": "met"}'))


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


async def test_an_echo_probe(ledger: Ledger) -> None:
    server = Scripted(good)
    async with server.serve() as url:
        report = await probe(spec(), REWARD, url, ledger)
    rows = ledger.calls()
    assert len(server.bodies) == len(rows) == 4
    assert [(row.sample_id, row.protocol, row.attempts, row.reason) for row in rows] == [
        ("probe", report.protocol, 1, None)
    ] * 4
    assert all(row.prompt_tokens > 0 for row in rows)
    assert len(ledger.rows()) == 2


async def test_a_chat_probe_at_a_price(ledger: Ledger) -> None:
    server = ChatServer(MET, routes=("/v1/chat/completions",))
    async with server.serve() as url:
        await probe(spec(logprobs=False, price=PRICE), CHAT, url, ledger)
    rows = ledger.calls()
    assert len(rows) == len(server.bodies) == 3
    # A hundred tokens of the prompt, ten of the reply.
    assert [row.cost for row in rows] == [pytest.approx((100 * 1.0 + 10 * 2.0) / 1e6)] * 3


async def test_failures_of_a_probe_are_kept(ledger: Ledger) -> None:
    async with Scripted(fixed({"error": "no"}, 400)).serve() as url:
        with pytest.raises(JudgeError, match="rejected"):
            await probe(spec(), REWARD, url, ledger)
    async with Scripted(fixed({"choices": []})).serve() as url:
        with pytest.raises(JudgeError, match="log-probabilities"):
            await probe(spec(), REWARD, url, ledger)
    assert [row.reason for row in ledger.calls()] == ["rejected", "unparseable"]


@pytest.mark.parametrize(("calls", "made"), [(1, 1), (3, 3)])
async def test_a_probe_ends_at_the_budget_and_counts_what_was_asked_before(
    ledger: Ledger, calls: int, made: int
) -> None:
    server = Scripted(good)
    async with server.serve() as url:
        for _ in range(2):
            with pytest.raises(JudgeError, match="budget") as caught:
                await probe(spec(budget={"calls": calls}), REWARD, url, ledger)
    assert len(server.bodies) == made
    assert "budget" in str(caught.value)


async def test_a_chat_probe_ends_at_the_budget(ledger: Ledger) -> None:
    server = ChatServer(MET)
    async with server.serve() as url:
        with pytest.raises(JudgeError, match=r"budget\.calls: 2 calls made of 2 allowed") as caught:
            await probe(spec(logprobs=False, budget={"calls": 2}), CHAT, url, ledger)
    assert len(server.bodies) == 2
    assert "raise the judge's budget" in caught.value.remedy


async def test_a_check_records_all_its_calls(ledger: Ledger) -> None:
    server = ChatServer(MET)
    async with server.serve() as url:
        await check(spec(), url, None, ledger)
    rows = ledger.calls()
    assert {row.protocol for row in rows} == {"check"}
    # Four go to the chat route; the fifth, an echo of a prompt, has no route at this server.
    assert len(server.bodies) == 4
    assert collections.Counter(row.attempts for row in rows) == {1: 5}


async def test_a_check_asks_no_more_than_the_budget_allows(ledger: Ledger) -> None:
    server = ChatServer(MET)
    for _ in range(2):
        async with server.serve() as url:
            found = {each.name: each for each in await check(spec(budget={"calls": 2}), url, None, ledger)}
        assert found["chat"].works
        assert found["streaming"].works is None
        assert "budget.calls: 2 calls made of 2" in found["log-probabilities of the prompt"].text
    assert len(server.bodies) == 4


def test_the_command_keeps_its_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path))
    for _ in range(2):
        assert main(["check", "--judge", "external-example", "endpoint=http://127.0.0.1:9"]) == 1
    path = tmp_path / "checks" / "ledger.sqlite"
    assert f"the calls are in {path}" in capsys.readouterr().out
    with Ledger(path, make=False) as ledger:
        assert [row.reason for row in ledger.calls()] == ["judge_down"] * 2
    assert main(["ledger", str(path)]) == 0
