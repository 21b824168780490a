"""Chat judges as they are built, over real HTTP: what the server counts is what the ledger says."""

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from chat_servers import ChatServer, completion
from judge_servers import spec
from protocol_asks import sample

from components.core.errors import JudgeError
from components.core.spec.reward import RewardSpec
from components.judge.base import Judge
from components.judge.build import build_judge
from components.judge.memory import Ledger
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus

PATIENT = {"timeout_seconds": 20.0, "context_tokens": 8192}


def server(answer: Callable[[str], Any], delay: float = 0.0) -> ChatServer:
    """Answers the user's turn by a text or a whole completion."""

    async def reply(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(delay)
        said = answer(body["messages"][-1]["content"])
        data = completion(said) if isinstance(said, str) else said
        return web.Response(body=orjson.dumps(data), content_type="application/json")

    return ChatServer(reply)


@contextlib.asynccontextmanager
async def judge(
    asked: ChatServer, protocol: str, ledger: Ledger | None = None, state: Path | None = None, **changes: Any
) -> AsyncIterator[Judge]:
    reward = RewardSpec(name="r", protocol=protocol)  # type: ignore[arg-type]
    async with asked.serve() as url:
        built = build_judge(spec(**{**PATIENT, **changes}), reward, url, ledger, state=state)
        try:
            yield built
        finally:
            await built.close()


def listed(prompt: str) -> list[int]:
    return [number for number in range(1, 20) if f"\nc{number}: " in prompt]


async def test_batches_of_a_rubric_are_counted_alike_by_server_and_ledger(tmp_path: Path) -> None:
    def answer(prompt: str) -> str:
        asked = listed(prompt)
        return "no JSON" if len(asked) > 1 else json.dumps({f"c{asked[0]}": "met"})

    asked = server(answer)
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric", ledger) as built:
            verdicts = await built.judge(sample("a", "b", "c", "d"))
        calls, rows = ledger.calls(), ledger.rows()
    # All, two halves, four alone.
    assert len(asked.bodies) == 7
    assert sum(row.attempts for row in calls) == len(calls) == 7
    assert sorted(row.purpose for row in calls) == ["again"] * 2 + ["ask"] + ["single"] * 4
    assert [(v.status, v.attempts) for v in verdicts] == [(VerdictStatus.MET, 3)] * 4
    assert [(row.criterion, row.criterion_index, row.status, row.attempts) for row in rows] == [
        (text, index, "met", 3) for index, text in enumerate("abcd")
    ]
    # The server says 100 prompt tokens a call; each verdict bears its share.
    assert sum(row.prompt_tokens for row in rows) == sum(row.prompt_tokens for row in calls) == 700
    assert {row.sample_id for row in calls} == {row.sample_id for row in rows} == {"sample-7"}
    assert {row.protocol for row in calls} == {row.protocol for row in rows} == {verdicts[0].protocol}
    assert {row.raw_id for row in rows} <= {row.raw_id for row in calls}


async def test_explanations_reach_the_ledger(tmp_path: Path) -> None:
    asked = server(lambda prompt: json.dumps({"explanation": f"about {'food' in prompt}", "verdict": "unmet"}))
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric_per_criterion", ledger) as built:
            await built.judge(sample("animal", "food"))
        rows = ledger.rows()
    assert [(row.status, row.explanation, row.mass) for row in rows] == [
        ("unmet", "about False", None),
        ("unmet", "about True", None),
    ]


async def test_masses_reach_the_ledger_also_where_they_are_too_low(tmp_path: Path) -> None:
    def answer(prompt: str) -> dict[str, Any]:
        shares = {"yes": 0.6, "no": 0.2} if "animal" in prompt else {"The": 0.7, "yes": 0.1}
        top = [{"token": token, "logprob": math.log(share)} for token, share in shares.items()]
        data = completion(top[0]["token"], "length")
        data["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        return data

    asked = server(answer)
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric_token", ledger, answer_logprobs=True, profile="vllm") as built:
            await built.judge(sample("animal", "food", response="A dog."))
        rows = ledger.rows()
        ((_, detail, _),) = ledger.failures()
    assert [(row.status, row.reason) for row in rows] == [("met", None), ("unknown", "low_mass")]
    assert [row.mass for row in rows] == pytest.approx([0.8, 0.1])
    assert rows[0].probability == pytest.approx(0.75)
    assert rows[1].probability is None
    assert asked.bodies[0]["top_logprobs"] == 20
    assert asked.bodies[0]["max_tokens"] == 1
    assert "judge scripted, row row-7: 'food'" in detail


async def test_equal_samples_at_once_are_asked_once_and_counted_once(tmp_path: Path) -> None:
    asked = server(lambda _: '{"c1": "met"}', delay=0.05)
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric", ledger) as built:
            await asyncio.gather(*(built.judge(sample()) for _ in range(5)))
        rows, calls = ledger.rows(), ledger.calls()
    assert len(asked.bodies) == len(calls) == 1
    assert len(rows) == 5
    assert sum(row.attempts for row in rows) == 1
    assert sum(row.prompt_tokens for row in rows) == 100
    assert {row.status for row in rows} == {"met"}


async def test_a_deadline_holds_for_all_calls_of_a_sample() -> None:
    asked = server(lambda _: "no JSON", delay=0.4)
    async with judge(asked, "rubric", limits={"sample_deadline_seconds": 0.6}, attempts=1) as built:
        verdicts = await built.judge(sample("a", "b", "c", "d"))
    # The first call ends in time and says nothing; its repetition does not end, and no third round is begun.
    assert len(asked.bodies) == 3
    assert {verdict.reason for verdict in verdicts} == {UnknownReason.TIMEOUT}


@pytest.mark.parametrize("response", ["", " \n\t"])
async def test_an_empty_response_is_not_asked_about(tmp_path: Path, response: str) -> None:
    asked = server(lambda _: '{"c1": "met"}')
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric", ledger) as built:
            (verdict,) = await built.judge(sample(response=response))
        (row,) = ledger.rows()
        assert ledger.calls() == []
    assert (verdict.status, verdict.reason, verdict.attempts) == ("unknown", "empty_response", 0)
    assert (row.reason, row.response_chars) == ("empty_response", len(response))
    assert asked.bodies == []


async def test_a_cancelled_judgement_leaves_its_calls_and_no_verdicts(tmp_path: Path) -> None:
    asked = server(lambda _: '{"explanation": "", "verdict": "met"}', delay=0.3)
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric_per_criterion", ledger) as built:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(built.judge(sample("a", "b")), 0.1)
            await asyncio.sleep(0.05)
            assert ledger.rows() == []
            assert [row.reason for row in ledger.calls()] == ["timeout", "timeout"]
            verdicts = await built.judge(sample("a", "b"))
        assert [verdict.status for verdict in verdicts] == ["met", "met"]
        assert len(ledger.calls()) == len(asked.bodies) == 4


async def test_a_reply_that_says_nothing_is_not_served_from_the_cache(tmp_path: Path) -> None:
    lines = iter(["no JSON", "still none"])
    asked = server(lambda _: next(lines, '{"c1": "met"}'))
    found = []
    for _ in range(3):
        async with judge(asked, "rubric", state=tmp_path) as built:
            (verdict,) = await built.judge(sample())
            found.append((verdict.status.value, verdict.attempts, len(asked.bodies)))
    # Both replies are asked for anew, and the one that says something is kept.
    assert found == [("unknown", 2, 2), ("met", 1, 3), ("met", 0, 3)]


async def test_a_judge_that_is_down_gives_no_number(tmp_path: Path) -> None:
    reward = RewardSpec(name="r", protocol="rubric")
    with Ledger(tmp_path / "ledger") as ledger:
        built = build_judge(
            spec(attempts=1, limits={"sample_deadline_seconds": 0.3}), reward, "http://127.0.0.1:9", ledger
        )
        verdicts = await built.judge(sample("a", "b"))
        await built.close()
        assert [row.probability for row in ledger.rows()] == [None, None]
    assert {verdict.status for verdict in verdicts} == {VerdictStatus.UNKNOWN}
    assert {verdict.reason for verdict in verdicts} <= {UnknownReason.JUDGE_DOWN, UnknownReason.TIMEOUT}


async def test_a_context_too_small_is_told_before_the_call_by_judge_row_and_remedy(tmp_path: Path) -> None:
    asked = server(lambda _: '{"c1": "met"}')
    with Ledger(tmp_path / "ledger") as ledger:
        async with judge(asked, "rubric", ledger, context_tokens=2048) as built:
            (verdict,) = await built.judge(sample(response="word " * 2000))
        ((name, detail, _),) = ledger.failures()
    assert verdict.reason is UnknownReason.TOO_LONG
    assert asked.bodies == []
    assert name == "sample-7"
    assert "judge scripted, row row-7: " in detail
    assert "choose a judge with a longer context" in detail


PENALTY = Criterion("is rude", -1.0)


@pytest.mark.parametrize(
    ("protocol", "criteria", "what", "remedy"),
    [
        ("rubric", (), "the rubric is empty", "at least one criterion"),
        ("rubric", (Criterion("kind"), Criterion(" kind ")), "has a criterion twice: number 2", "sum of the points"),
        ("rubric_token", (PENALTY,), "no positive points", "points above 0"),
        ("verif", (Criterion("kind"), PENALTY), "is a penalty", "reward.protocol: rubric"),
    ],
)
async def test_a_rubric_without_a_reward_is_refused_by_judge_row_and_remedy(
    protocol: str, criteria: tuple[Criterion, ...], what: str, remedy: str
) -> None:
    asked = server(lambda _: '{"c1": "met"}')
    async with judge(asked, protocol, answer_logprobs=True) as built:
        with pytest.raises(JudgeError) as caught:
            await built.judge(Sample("row-7", "s", "q", "r", criteria))
    assert what in caught.value.what
    assert caught.value.where == "judge scripted, row row-7"
    assert remedy in caught.value.remedy
    assert asked.bodies == []
