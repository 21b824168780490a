"""The likelihood-ratio judge's calls: a row each, at a price, within its limits, on its provider's route."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from judge_servers import ANIMAL, FOOD, REWARD, Scripted, completion, fixed, good, reply, sample, spec, tokens_of

from components.core.spec.judge_limits import JudgeBudget, JudgeLimits, JudgePrice
from components.judge.build import build_judge, completions_judge
from components.judge.memory import CallRow, Ledger
from components.judge.verdict import Sample, UnknownReason, Verdict, VerdictStatus

PRICE = JudgePrice(prompt=2.0, completion=8.0, currency="EUR")


async def judged(
    server: Scripted, path: Path, *samples: Sample, state: Path | None = None, **changes: Any
) -> tuple[list[list[Verdict]], list[CallRow]]:
    async with server.serve() as url:
        with Ledger(path) as ledger:
            about = spec(**{"timeout_seconds": 20.0} | changes)
            judge = completions_judge(about, REWARD, url, ledger, state=state, cached=True)
            found = await asyncio.gather(*(judge.judge(each) for each in samples))
            await judge.close()
            return list(found), ledger.calls()


def named(count: int) -> list[Sample]:
    return [sample(f"A cat sleeps on mat {number}.", name=f"s{number}") for number in range(count)]


async def test_a_call_has_its_row(tmp_path: Path) -> None:
    server = Scripted(good)
    asked = sample("A cat sleeps.", ANIMAL, FOOD)
    (verdicts,), (row,) = await judged(server, tmp_path / "l", asked, price=PRICE)
    prompts = server.bodies[0]["prompt"]
    tokens = sum(len(tokens_of(prompt)) for prompt in prompts)
    assert len(prompts) == 3
    assert (row.judge, row.protocol, row.purpose) == ("scripted", verdicts[0].protocol, "ask")
    assert (row.attempts, row.reason, row.finish, row.from_cache) == (1, None, "length", False)
    assert (row.key, row.endpoint) == (0, 0)
    assert (row.prompt_tokens, row.completion_tokens) == (tokens, 0)
    assert (row.cost, row.currency) == (pytest.approx(2e-6 * tokens), "EUR")
    assert (row.sample_id, row.response_chars) == ("s", len("A cat sleeps."))
    assert row.raw_id == verdicts[0].raw_id
    assert 0 < row.seconds < 60


async def test_tokens_are_counted_from_the_echo_where_the_server_does_not(tmp_path: Path) -> None:
    async def silent(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return reply({**completion(body), "usage": None})

    server = Scripted(silent)
    _, (row,) = await judged(server, tmp_path / "l", sample())
    assert row.prompt_tokens == sum(len(tokens_of(prompt)) for prompt in server.bodies[0]["prompt"])


@pytest.mark.parametrize(
    ("behaviour", "reason", "attempts"),
    [
        (fixed({"choices": []}), "unparseable", 1),
        (fixed({"error": {"message": "no"}}, 400), "rejected", 1),
        (fixed({"error": {"message": "broken"}}, 500), "judge_down", 2),
    ],
)
async def test_a_failure_has_its_row_and_no_number(tmp_path: Path, behaviour: Any, reason: str, attempts: int) -> None:
    server = Scripted(behaviour)
    ((verdict,),), (row,) = await judged(server, tmp_path / "l", sample(), price=PRICE)
    assert verdict.status is VerdictStatus.UNKNOWN
    assert (verdict.probability, verdict.reason) == (None, UnknownReason(reason))
    assert (row.reason, row.finish, row.attempts, row.prompt_tokens) == (reason, None, attempts, 0)
    assert len(server.bodies) == attempts


async def test_what_is_too_long_has_a_row_without_calls_and_an_empty_response_none(tmp_path: Path) -> None:
    server = Scripted(good)
    _, (row,) = await judged(server, tmp_path / "l", sample("word " * 3000), sample(""))
    assert (row.reason, row.attempts) == ("too_long", 0)
    assert server.bodies == []


@pytest.mark.parametrize("limit", ["calls", "tokens", "cost"])
async def test_a_budget_holds_over_restarts_and_keeps_what_was_judged(tmp_path: Path, limit: str) -> None:
    _, (measured,) = await judged(Scripted(good), tmp_path / "first", named(1)[0])
    # Just less than four calls take.
    tokens = 4 * measured.prompt_tokens - 2
    budget = JudgeBudget(**{limit: {"calls": 4, "tokens": tokens, "cost": 2e-6 * tokens}[limit]})
    server = Scripted(good)
    known = 0
    for count in (1, 9, 5):
        found, rows = await judged(server, tmp_path / "l", *named(count), price=PRICE, budget=budget)
        known += sum(each.status is not VerdictStatus.UNKNOWN for (each,) in found)
        assert {each.reason for (each,) in found} <= {None, UnknownReason.BUDGET}
    assert {each.reason for (each,) in found} == {UnknownReason.BUDGET}
    assert known == len(server.bodies) == sum(row.attempts for row in rows) == 4
    assert sum(row.reason == "budget" for row in rows) == 15 - 4
    with Ledger(tmp_path / "l") as ledger:
        assert ledger.failures()[-1][1].startswith(f"budget.{limit}: ")


async def test_limits_reach_the_calls(tmp_path: Path) -> None:
    """One call a second, the list of models included, and no sample waits longer than two and a half."""
    limits = JudgeLimits(requests_per_minute=60, sample_deadline_seconds=2.5)
    server = Scripted(good)
    found, rows = await judged(server, tmp_path / "l", *named(8), limits=limits)
    reasons = [each.reason for (each,) in found]
    assert len(server.bodies) < 6
    assert reasons.count(None) == len(server.bodies)
    assert sum(row.attempts for row in rows) == len(server.bodies)
    assert set(reasons) <= {None, UnknownReason.TIMEOUT}


async def test_replicas_and_keys_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_KEY", "one")
    monkeypatch.setenv("OTHER_KEY", "other")
    first, second = Scripted(good), Scripted(good)
    async with second.serve() as replica:
        _, rows = await judged(
            first,
            tmp_path / "l",
            *named(12),
            replicas=(replica,),
            api_key_env="ONE_KEY",
            more_key_envs=("OTHER_KEY",),
            timeout_seconds=20.0,
        )
    assert {row.endpoint for row in rows} == {0, 1}
    assert {row.key for row in rows} == {0, 1}
    assert len(first.bodies) + len(second.bodies) == 12
    used = {headers["Authorization"] for headers in [*first.headers, *second.headers]}
    assert used == {"Bearer one", "Bearer other"}
    assert b"Bearer" not in (tmp_path / "l").read_bytes()


async def test_the_route_is_the_providers(tmp_path: Path) -> None:
    server = Scripted(good)
    app = web.Application()
    app.router.add_post("/openai/v1/completions", server.completions)
    app.router.add_get("/openai/v1/models", server.list_models)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        with Ledger(tmp_path / "l") as ledger:
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            judge = build_judge(spec(profile="kserve", timeout_seconds=20.0), REWARD, url, ledger)
            (verdict,) = await judge.judge(sample())
            await judge.close()
    finally:
        await runner.cleanup()
    assert verdict.reason is None
    assert len(server.bodies) == 1


async def test_a_cancelled_call_is_charged_and_recorded(tmp_path: Path) -> None:
    async def hang(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(1)
        return web.Response(body=orjson.dumps({}))

    server = Scripted(hang)
    async with server.serve() as url:
        with Ledger(tmp_path / "l") as ledger:
            judge = build_judge(spec(timeout_seconds=5.0, budget=JudgeBudget(calls=1)), REWARD, url, ledger)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(judge.judge(sample()), 0.3)
            (verdict,) = await judge.judge(sample())
            await judge.close()
            first, second = ledger.calls()
    assert (first.reason, first.attempts) == ("timeout", 1)
    assert (second.reason, verdict.reason) == ("budget", UnknownReason.BUDGET)
    assert len(server.bodies) == 1


async def test_what_was_asked_before_comes_from_the_cache_and_costs_nothing(tmp_path: Path) -> None:
    server = Scripted(good)
    asked = sample("A cat sleeps.", ANIMAL, FOOD)
    (first,), (paid,) = await judged(server, tmp_path / "one", asked, state=tmp_path, price=PRICE)
    (second,), (free,) = await judged(server, tmp_path / "two", asked, state=tmp_path, price=PRICE)
    assert len(server.bodies) == 1
    assert [each.log_ratio for each in second] == [each.log_ratio for each in first]
    assert [each.raw_id for each in second] == [each.raw_id for each in first]
    assert [each.attempts for each in second] == [0, 0]
    assert (paid.from_cache, free.from_cache) == (False, True)
    assert (free.attempts, free.prompt_tokens, free.cost) == (0, 0, 0.0)
    with Ledger(tmp_path / "two") as ledger:
        assert [row.prompt_tokens for row in ledger.rows()] == [0, 0]


@pytest.mark.parametrize("changes", [{"cache": False}, {"model_name": "another"}])
async def test_another_model_is_asked_and_so_is_a_judge_without_a_cache(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    server = Scripted(good)
    await judged(server, tmp_path / "one", sample(), state=tmp_path)
    await judged(server, tmp_path / "two", sample(), state=tmp_path, **changes)
    assert len(server.bodies) == 2


async def test_a_repetition_is_asked_anew_once(tmp_path: Path) -> None:
    server = Scripted(good)
    async with server.serve() as url:
        judge = completions_judge(spec(timeout_seconds=20.0), REWARD, url, None, state=tmp_path, cached=True)
        for draw in ("", "repeat 1", "repeat 2", "repeat 1", ""):
            (verdict,) = await judge.drawn(draw).judge(sample())
            assert verdict.status is VerdictStatus.MET
        await judge.close()
    assert len(server.bodies) == 3


async def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    async def garbled(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return reply({**completion(body), "choices": []})

    (bad,), _ = await judged(Scripted(garbled), tmp_path / "one", sample(), state=tmp_path)
    assert bad[0].reason is UnknownReason.UNPARSEABLE
    server = Scripted(good)
    (now,), _ = await judged(server, tmp_path / "two", sample(), state=tmp_path)
    assert len(server.bodies) == 1
    assert now[0].status is not VerdictStatus.UNKNOWN
