"""How calls are repeated: waits, limits and what is sent."""

import asyncio
import datetime
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_servers import REWARD, Scripted, fixed, good, sample, spec

from components.core.errors import JudgeError
from components.judge.backoff import full_jitter, retry_after
from components.judge.build import build_judge
from components.judge.failures import Failure
from components.judge.transport import Limits, Reply, Transport

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0.5", 0.5),
        # No wait is no wish: it says nothing about when the next call will be taken.
        ("-4", None),
        ("0", None),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
        ("Fri, 02 Jan 2026 03:04:35 GMT", 30.0),
        ("Fri, 02 Jan 2026 03:04:00 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999999", None),
    ],
)
def test_retry_after_header(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@given(st.integers(0, 10_000), st.integers())
def test_jitter_is_within_the_doubling_limit(repeat: int, seed: int) -> None:
    assert 0.0 <= full_jitter(repeat, random.Random(seed)) <= min(10.0, 0.25 * 2.0 ** min(repeat, 10))


def call(server: Scripted, **changes: float) -> tuple[Reply | Failure, list[float]]:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    def clock() -> float:
        return sum(pauses)

    async def run() -> Reply | Failure:
        async with server.serve() as url:
            settings = {"timeout": 5.0, "attempts": 3, **changes}
            transport = Transport(
                [url],
                limits=Limits(concurrency=2),
                pause=pause,
                clock=clock,
                **settings,  # type: ignore[arg-type]
            )
            try:
                return await transport.post("/v1/completions", {"prompt": "a"})
            finally:
                await transport.close()
                await transport.close()

    return asyncio.run(run()), pauses


def test_retry_after_is_a_floor() -> None:
    got, pauses = call(Scripted(fixed({}, 429, **{"Retry-After": "7"}), good))
    assert isinstance(got, Reply)
    assert got.attempts == 2
    assert len(pauses) == 1
    assert pauses[0] >= 7.0


def test_waiting_beyond_the_deadline_gives_up_at_once() -> None:
    got, pauses = call(Scripted(fixed({}, 429, **{"Retry-After": "16"}), good))
    assert isinstance(got, Failure)
    assert pauses == []


def test_a_flood_does_not_use_up_attempts() -> None:
    got, pauses = call(Scripted(*[fixed({}, 503)] * 9, good), attempts=1, timeout=600.0)
    assert isinstance(got, Reply)
    assert got.attempts == 10
    assert len(pauses) >= 9


def test_breakage_uses_up_attempts() -> None:
    server = Scripted(fixed({}, 500))
    got, pauses = call(server)
    assert isinstance(got, Failure)
    assert (got.attempts, len(pauses), len(server.bodies)) == (3, 2, 3)


def ask(server: Scripted, **changes: object) -> None:
    async def run() -> None:
        async with server.serve() as url:
            judge = build_judge(spec(**changes), REWARD, url, None)
            await judge.judge(sample())
            await judge.close()

    asyncio.run(run())


def test_the_key_comes_from_the_environment_and_goes_into_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_JUDGE_KEY", " abc ")
    server = Scripted(good)
    ask(server, api_key_env="TEST_JUDGE_KEY")
    assert server.headers[0]["Authorization"] == "Bearer abc"
    monkeypatch.delenv("TEST_JUDGE_KEY")
    with pytest.raises(JudgeError, match="TEST_JUDGE_KEY is not set"):
        build_judge(spec(api_key_env="TEST_JUDGE_KEY"), REWARD, "http://127.0.0.1:1", None)


def test_our_field_goes_only_to_servers_that_announce_it() -> None:
    plain = Scripted(good)
    ask(plain)
    assert "logprobs_from" not in plain.bodies[0]
    assert plain.bodies[0]["logprobs"] == 1
    card = {"id": "scripted-model", "gavel": {"logprobs_from": True}}
    ours = Scripted(good, models={"data": [card]})
    ask(ours)
    prompts, places = ours.bodies[0]["prompt"], ours.bodies[0]["logprobs_from"]
    assert [prompt[place:] for prompt, place in zip(prompts, places, strict=True)] == ["A cat sleeps."] * 2
    other = Scripted(good, models={"data": [{"id": "another", "gavel": {"logprobs_from": True}}]})
    ask(other)
    assert "logprobs_from" not in other.bodies[0]


@pytest.mark.parametrize("models", [{}, {"data": None}, {"data": [1, None, {}]}, {"data": "x"}])
def test_a_strange_list_of_models_hinders_nothing(models: object) -> None:
    server = Scripted(good, models=models)
    ask(server)
    assert len(server.bodies) == 1


def test_a_missing_list_of_models_hinders_nothing() -> None:
    server = Scripted(good, models={"detail": "Not Found"}, models_status=404)
    ask(server)
    assert len(server.bodies) == 1
