"""The probe: a judge that would fail in training is refused before, with a reason and a remedy."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from judge_servers import MODEL, REWARD, Scripted, changed, choice, fixed, good, reply, spec, text

from components.core.errors import JudgeError
from components.judge.probing.report import ProbeReport
from components.judge.probing.run import probe


def run(server: Scripted, **changes: Any) -> ProbeReport:
    async def use() -> ProbeReport:
        async with server.serve() as url:
            return await probe(spec(**changes), REWARD, url)

    return asyncio.run(use())


def refusal(server: Scripted, **changes: Any) -> str:
    with pytest.raises(JudgeError) as caught:
        run(server, **changes)
    assert caught.value.where.startswith("judge scripted at http://127.0.0.1:")
    assert caught.value.remedy
    return str(caught.value)


def test_a_good_judge_passes_with_its_figures() -> None:
    server = Scripted(good, models={"data": [{"id": MODEL, "max_model_len": 4096}]})
    report = run(server)
    assert (report.judge, report.model, report.context, report.difference) == ("scripted", MODEL, 4096, 0.0)
    assert report.latency > 0
    assert report.tokens_per_second > 0
    assert 0 <= report.met <= 1
    assert 0 <= report.unmet <= 1
    # Two plain calls and two verdicts.
    assert len(server.bodies) == 4
    table = "\n".join(report.table())
    for wanted in (MODEL, "4096 tokens", "same question, same answer", "tokens a second"):
        assert wanted in table
    assert set(report.metadata()) >= {"judge", "latency", "tokens_per_second", "met", "unmet"}


def llama_cpp(data: dict[str, Any]) -> None:
    """Takes echo and logprobs, and answers with a completion of its own."""
    for number, _ in enumerate(data["choices"]):
        data["choices"][number] = {**choice(number, " Sure"), "text": " Sure"}


@pytest.mark.parametrize(
    "behaviour",
    [
        changed(llama_cpp),
        changed(lambda d: [c.update(logprobs=None) for c in d["choices"]] and None),
        changed(lambda d: [c.pop("logprobs") for c in d["choices"]] and None),
        changed(lambda d: [c["logprobs"].update(token_logprobs=[]) for c in d["choices"]] and None),
    ],
)
def test_a_server_that_ignores_echo_or_logprobs_is_refused(behaviour: Any) -> None:
    message = refusal(Scripted(behaviour))
    assert "does not return the prompt's log-probabilities" in message
    assert "llama.cpp" in message


def test_an_unknown_model_lists_what_there_is() -> None:
    message = refusal(Scripted(good, models={"data": [{"id": "one"}, {"id": "two"}]}))
    assert f"no model {MODEL!r}; it has: one, two" in message
    assert "it has: none" in refusal(Scripted(good, models={"data": []}))


def test_a_context_that_is_too_small() -> None:
    message = refusal(Scripted(good, models={"data": [{"id": MODEL, "max_model_len": 512}]}))
    assert "reads 512 tokens, and the judge's context_tokens says 2048" in message


def test_a_wrong_route() -> None:
    message = refusal(Scripted(good, models={"detail": "Not Found"}, models_status=404))
    assert "/openai/v1" in message
    message = refusal(Scripted(fixed({"detail": "Not Found"}, 404)))
    assert "/openai/v1" in message


def test_a_wrong_key() -> None:
    message = refusal(Scripted(good, models={"error": "Unauthorized"}, models_status=401))
    assert "status 401" in message
    assert "api_key_env" in message


def test_a_web_page() -> None:
    assert "no JSON" in refusal(Scripted(text("<!doctype html>")))


def test_nobody_there() -> None:
    with pytest.raises(JudgeError, match="judge_down"):
        asyncio.run(probe(spec(timeout_seconds=0.1), REWARD, "http://127.0.0.1:9"))


def test_an_answer_that_changes_is_told() -> None:
    calls: list[int] = []

    async def moody(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        calls.append(1)
        from judge_servers import completion

        data = completion(body)
        for each in data["choices"]:
            values = each["logprobs"]["token_logprobs"]
            values[-1] -= 0.25 * len(calls)
        return reply(data)

    report = run(Scripted(moody))
    assert report.difference == pytest.approx(0.25)
    assert "NO (largest difference 0.25 nats)" in "\n".join(report.table())


def test_verdicts_that_fail_are_refused() -> None:
    message = refusal(Scripted(good, good, fixed({"error": "no"}, 400)))
    assert "gives no verdict on a plain sentence: rejected" in message


@pytest.mark.parametrize(
    ("met", "unmet", "said"),
    [
        (0.9, 0.1, "as it should be"),
        (0.5, 0.5, "does not tell them apart"),
        (1.0, 1.0, "does not tell them apart"),
        (0.1, 0.9, "THE WRONG WAY ROUND"),
    ],
)
def test_the_order_of_the_known_pair(met: float, unmet: float, said: str) -> None:
    report = ProbeReport("j", "http://h", "m", "rubric/1", None, 1.0, None, 0.0, met, unmet)
    (line,) = (line for line in report.table() if line.startswith("known pair"))
    assert line.endswith(said) or f"{said}:" in line


@pytest.mark.parametrize(
    ("met", "unmet", "said"),
    [
        (0.501, 0.5, "0.501 for one that meets, 0.500 for one that misses: no difference to speak of"),
        (0.49991, 0.50004, "0.4999 for one that meets, 0.5000 for one that misses: no difference"),
        (0.5, 0.5, "0.50 for one that meets, 0.50 for one that misses: it does not tell them apart"),
        (0.4, 0.46, "0.40 for one that meets, 0.46 for one that misses: THE WRONG WAY ROUND"),
    ],
)
def test_the_known_pair_has_as_many_digits_as_tell_it_apart(met: float, unmet: float, said: str) -> None:
    report = ProbeReport("j", "http://h", "m", "rubric/1", None, 1.0, None, 0.0, met, unmet)
    (line,) = (line for line in report.table() if line.startswith("known pair"))
    assert said in line
    assert ("WRONG" in line) == (unmet - met > 0.01)
