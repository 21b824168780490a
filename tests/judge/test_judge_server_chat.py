"""The embedded server's chat protocol over real HTTP, against transformers' own rendering and logits."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
import torch
from aiohttp.test_utils import TestServer
from transformers import AutoModelForCausalLM, AutoTokenizer

from components.judge.server.app import build_app
from components.judge.server.engine import Engine
from components.judge.stream import assemble

NAME = "judge-model"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is a cat an animal? caf\u00e9"}]


def post(engine: Engine, **body: Any) -> tuple[int, str, bytes]:
    async def run() -> tuple[int, str, bytes]:
        server = TestServer(build_app(engine, NAME))
        await server.start_server()
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.post(
                    server.make_url("/v1/chat/completions"),
                    data=orjson.dumps({"model": NAME, "messages": MESSAGES, "max_tokens": 6, **body}),
                ) as response,
            ):
                return response.status, response.content_type, await response.read()
        finally:
            await server.close()

    return asyncio.run(run())


def ask(engine: Engine, **body: Any) -> dict[str, Any]:
    status, kind, raw = post(engine, **body)
    assert (status, kind) == (200, "application/json"), raw
    found: dict[str, Any] = orjson.loads(raw)
    return found


def test_greedy_reply_and_its_log_probabilities_are_the_model_s_own(engine: Engine, model_folder: Path) -> None:
    data = ask(engine, temperature=0, logprobs=True, top_logprobs=3)
    assert set(data) == {"id", "object", "created", "model", "choices", "usage"}
    assert (data["object"], data["model"]) == ("chat.completion", NAME)
    (choice,) = data["choices"]
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    prompt = tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=True)
    ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    made = model.generate(torch.tensor([ids]), max_new_tokens=6, do_sample=False)[0, len(ids) :].tolist()
    ends = {tokenizer.eos_token_id}
    assert choice["message"] == {
        "role": "assistant",
        "content": tokenizer.decode([each for each in made if each not in ends], skip_special_tokens=True),
    }
    written = [each for each in made if each not in ends]
    assert data["usage"]["prompt_tokens"] == len(ids)
    assert data["usage"]["completion_tokens"] == len(written)
    content = choice["logprobs"]["content"]
    assert [entry["token"] for entry in content] == [tokenizer.decode([each]) for each in written]
    with torch.no_grad():
        truth = torch.log_softmax(model(torch.tensor([ids + written])).logits[0], dim=-1)
    for place, (entry, index) in enumerate(zip(content, written, strict=True)):
        row = truth[len(ids) - 1 + place]
        assert entry["logprob"] == pytest.approx(float(row[index]), abs=1e-3)
        best = row.topk(3).values.tolist()
        assert [each["logprob"] for each in entry["top_logprobs"]] == pytest.approx(best, abs=1e-3)


def test_a_stream_says_the_same_as_a_whole_reply(engine: Engine) -> None:
    options = {"temperature": 0, "logprobs": True, "top_logprobs": 2}
    whole = ask(engine, **options)
    status, kind, raw = post(engine, stream=True, stream_options={"include_usage": True}, **options)
    assert (status, kind) == (200, "text/event-stream")
    assert raw.count(b"data: ") >= 4

    async def chunks() -> AsyncIterator[bytes]:
        yield raw

    streamed = asyncio.run(assemble(chunks()))
    for key in ("message", "finish_reason"):
        assert streamed["choices"][0][key] == whole["choices"][0][key]
    tokens = [[t["token"] for t in each["choices"][0]["logprobs"]["content"]] for each in (streamed, whole)]
    assert tokens[0] == tokens[1]
    assert streamed["usage"] == whole["usage"]


def test_a_stop_text_and_the_length_end_the_reply(engine: Engine) -> None:
    text = ask(engine, temperature=0)["choices"][0]
    assert text["finish_reason"] == "length"
    stop = text["message"]["content"][1:3]
    cut = ask(engine, temperature=0, stop=[stop])["choices"][0]
    assert (cut["finish_reason"], stop in cut["message"]["content"]) == ("stop", False)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"response_format": {"type": "json_object"}}, 400, "response_format"),
        ({"n": 2}, 400, "n=2 is not supported"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, 400, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 5}]}, 400, "messages.0.content"),
        ({"top_logprobs": 2}, 400, "needs logprobs"),
        ({"stream_options": {"include_usage": True}}, 400, "needs stream"),
        ({"enable_thinking": False}, 400, "Unrecognized request argument supplied: enable_thinking"),
        ({"max_tokens": 100_000}, 400, "maximum context length"),
        ({"model": "other"}, 404, "does not exist"),
    ],
)
def test_what_is_not_supported_is_refused_and_never_ignored(
    engine: Engine, body: dict[str, Any], status: int, said: str
) -> None:
    got, kind, raw = post(engine, **body)
    assert (got, kind) == (status, "application/json")
    assert said in orjson.loads(raw)["error"]["message"]
