"""Prices by hand, limits that hold, also for many calls at once and after a restart."""

import asyncio
from pathlib import Path

import pytest
from chat_servers import ChatServer, completion, say
from hypothesis import given
from hypothesis import strategies as st
from judge_servers import spec

from components.core.errors import ContractError
from components.core.spec.judge_limits import JudgeBudget, JudgePrice
from components.judge.asker import Asker
from components.judge.build import build_budget
from components.judge.calls import Answer, Call, Message, Usage
from components.judge.failures import Failure
from components.judge.memory import Budget, CallRow, Ledger, Price, Spent
from components.judge.memory.spending import spent_in
from components.judge.profiles import profile_for
from components.judge.transport.once import Once
from components.judge.verdict import UnknownReason

PRICE = JudgePrice(prompt=3.0, completion=15.0, cached=0.3, currency="USD")


@pytest.mark.parametrize(
    ("spec_of_price", "usage", "cost"),
    [
        # 2,000 at 3 and 500 at 15 dollars a million.
        (PRICE, Usage(2_000, 500, 0), 0.0135),
        # 800 fresh at 3, 1,200 cached at 0.3, 500 at 15.
        (PRICE, Usage(2_000, 500, 1_200), 0.01026),
        # All of the prompt was cached, and no server can have more than that.
        (PRICE, Usage(2_000, 0, 2_000), 0.0006),
        (PRICE, Usage(2_000, 0, 9_999), 0.0006),
        # Without a price of their own, cached tokens cost as others.
        (JudgePrice(prompt=3.0, completion=15.0), Usage(2_000, 500, 1_200), 0.0135),
        (JudgePrice(prompt=0.0, completion=0.0), Usage(10, 10, 10), 0.0),
        (PRICE, Usage(), 0.0),
    ],
)
def test_prices(spec_of_price: JudgePrice, usage: Usage, cost: float) -> None:
    assert Price.of(spec_of_price).cost(usage) == pytest.approx(cost, rel=1e-12)


def test_each_limit_says_which_and_how_much() -> None:
    calls = Budget(JudgeBudget(calls=2))
    assert calls.reserve()
    assert calls.reserve()
    assert not calls.reserve()
    assert calls.reached == "budget.calls: 0 calls made of 2 allowed, and 2 calls in flight"
    calls.spent(Usage(5, 5), 1)
    calls.spent(Usage(5, 5), 1)
    assert calls.reached == "budget.calls: 2 calls made of 2 allowed"
    tokens = Budget(JudgeBudget(tokens=100))
    assert tokens.reserve()
    tokens.spent(Usage(90, 9), 1)
    assert tokens.reached is None
    assert tokens.reserve()
    tokens.spent(Usage(90, 9), 1)
    assert tokens.reached == "budget.tokens: 198 tokens used of 100 allowed"
    cost = Budget(JudgeBudget(cost=0.02), Price.of(PRICE))
    for _ in range(2):
        assert cost.reserve()
        cost.spent(Usage(2_000, 500), 1)
    assert cost.reached == "budget.cost: 0.027 of 0.02 USD spent"
    assert cost.total == Spent(2, 5_000, pytest.approx(0.027))  # type: ignore[arg-type]


def test_a_limit_on_cost_needs_a_price() -> None:
    with pytest.raises(ValueError, match="price"):
        Budget(JudgeBudget(cost=1.0))


def test_a_call_that_was_not_made_is_given_back() -> None:
    budget = Budget(JudgeBudget(calls=1))
    assert budget.reserve()
    budget.spent(Usage(), 0)
    assert budget.reserve()


@given(
    limit=st.integers(1, 3_000),
    takes=st.lists(st.integers(1, 60), min_size=1, max_size=150),
    at_once=st.integers(1, 40),
)
def test_never_more_than_the_calls_in_flight_beyond_a_limit(limit: int, takes: list[int], at_once: int) -> None:
    """Calls start whenever fewer than ``at_once`` are under way, and end in the order of starting."""
    budget = Budget(JudgeBudget(tokens=limit))
    flying: list[int] = []
    used = 0
    for take in takes:
        if len(flying) == at_once:
            done = flying.pop(0)
            used += done
            budget.spent(Usage(done), 1)
        if not budget.reserve(Usage(30)):
            break
        flying.append(take)
        # Let in while what was used leaves room, so that only those in flight can exceed it.
        assert used < limit
    used += sum(flying)
    assert used < limit + 60 * at_once


def test_many_calls_at_once_count_before_they_end() -> None:
    """500 at once, each of 110 tokens: a limit of 1,100 lets ten in when the guess is right, and not 500."""
    budget = Budget(JudgeBudget(tokens=1_100))
    assert sum(budget.reserve(Usage(110)) for _ in range(500)) == 10
    for _ in range(10):
        budget.spent(Usage(100, 10), 1)
    assert budget.total.tokens == 1_100
    # With calls known, the guess counts no more.
    later = Budget(JudgeBudget(tokens=2_200), before=Spent(10, 1_100))
    assert sum(later.reserve(Usage(1)) for _ in range(500)) == 10


def asked(text: str) -> Call:
    return Call((Message("user", text),), max_tokens=16)


async def ask_all(server: ChatServer, budget: Budget, ledger: Ledger, count: int) -> list[Answer | Failure]:
    judge = spec(price=PRICE, max_concurrency=64)
    async with server.serve() as url, Once(url, key=None, timeout=5.0) as wire:
        asker = Asker(judge, profile_for(judge, url), wire, protocol="rubric/1", ledger=ledger, budget=budget)
        return list(await asyncio.gather(*(asker(asked(str(number))) for number in range(count))))


async def test_calls_in_flight_end_and_are_kept_and_a_restart_goes_on_counting(tmp_path: Path) -> None:
    limits, server = JudgeBudget(calls=30), ChatServer(say(completion()))
    path = tmp_path / "ledger"
    with Ledger(path) as ledger:
        found = await ask_all(server, Budget(limits, Price.of(PRICE)), ledger, 20)
        assert all(isinstance(each, Answer) for each in found)
    with Ledger(path) as ledger:
        before = ledger.spent("scripted", Price.of(PRICE))
        # 100 prompt tokens of which 40 were cached, and 10 of the reply.
        one = (60 * 3.0 + 40 * 0.3 + 10 * 15.0) / 1e6
        assert (before.calls, before.tokens) == (20, 20 * 110)
        assert before.cost == pytest.approx(20 * one)
        found = await ask_all(server, Budget(limits, Price.of(PRICE), before), ledger, 25)
        failures = [each for each in found if isinstance(each, Failure)]
        assert len(failures) == 15
        assert {each.reason for each in failures} == {UnknownReason.BUDGET}
        assert "of 30 allowed" in failures[0].detail
        assert ledger.spent("scripted").calls == 30
        assert sum(row.reason == "budget" for row in ledger.calls()) == 15
    assert len(server.bodies) == 30


async def test_what_earlier_steps_spent_counts(tmp_path: Path) -> None:
    with Ledger(tmp_path / "training") as ledger:
        await ask_all(ChatServer(say(completion())), Budget(JudgeBudget()), ledger, 6)
        ledger.add_call(CallRow(1.0, "other", "p", "ask", "0", 50, 0.1))
        ledger.export_calls(tmp_path / "calls.parquet")
        known = ledger.spent("scripted", Price.of(PRICE))
    # Priced in the currency of today or by the price of today, in the table as in the ledger.
    for price in (None, Price.of(PRICE), Price(1.0, 2.0, 0.5, "EUR")):
        with Ledger(tmp_path / "training") as ledger:
            expected = ledger.spent("scripted", price)
        found = spent_in(tmp_path / "calls.parquet", "scripted", price)
        assert (found.calls, found.tokens) == (expected.calls, expected.tokens) == (6, 660)
        assert found.cost == pytest.approx(expected.cost)
    judge = spec(price=PRICE, budget=JudgeBudget(calls=8))
    with Ledger(tmp_path / "scoring") as ledger:
        budget = build_budget(judge, ledger, [tmp_path / "calls.parquet"])
        assert budget is not None
        assert budget.total == Spent(6, 660, pytest.approx(known.cost))  # type: ignore[arg-type]
        assert [budget.reserve() for _ in range(3)] == [True, True, False]
        with pytest.raises(ContractError, match=r"missing\.parquet"):
            build_budget(judge, ledger, [tmp_path / "missing.parquet"])
        # Without a limit nothing needs to be known.
        assert build_budget(spec(), ledger, [tmp_path / "missing.parquet"]) is None


async def test_an_absurd_count_of_tokens_says_nothing(tmp_path: Path) -> None:
    reply = completion()
    reply["usage"] = {"prompt_tokens": 1 << 62, "completion_tokens": 10}
    with Ledger(tmp_path / "l") as ledger:
        (found,) = await ask_all(ChatServer(say(reply)), Budget(JudgeBudget()), ledger, 1)
        (row,) = ledger.calls()
    assert isinstance(found, Answer)
    assert (row.prompt_tokens, row.completion_tokens) == (0, 10)
