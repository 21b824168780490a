"""The server's protocol over real HTTP: the shape of OpenAI's legacy completions as vLLM gives it, and its errors."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
import torch
from aiohttp.test_utils import TestServer
from judge_servers import ANIMAL, FOOD, REWARD, sample, spec
from transformers import AutoModelForCausalLM, AutoTokenizer

from components.judge.build import build_judge, build_protocol
from components.judge.server.app import build_app
from components.judge.server.engine import Engine
from components.judge.server.jobs import Answer, Job
from components.judge.verdict import VerdictStatus

NAME = "judge-model"
Post = Callable[[Any], Awaitable[tuple[int, dict[str, Any]]]]


def with_server(engine: Engine, use: Callable[[str, Post], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        server = TestServer(build_app(engine, NAME))
        await server.start_server()
        url = str(server.make_url("")).rstrip("/")
        async with aiohttp.ClientSession() as session:

            async def post(body: Any) -> tuple[int, dict[str, Any]]:
                data = body if isinstance(body, bytes) else orjson.dumps(body)
                async with session.post(url + "/v1/completions", data=data) as response:
                    assert response.content_type == "application/json"
                    return response.status, orjson.loads(await response.read())

            try:
                return await use(url, post)
            finally:
                await server.close()

    return asyncio.run(run())


def ask(engine: Engine, **body: Any) -> dict[str, Any]:
    async def use(_: str, post: Post) -> dict[str, Any]:
        status, data = await post({"model": NAME, **body})
        assert status == 200, data
        return data

    found: dict[str, Any] = with_server(engine, use)
    return found


PROMPT = "<|im_start|>user\nHello there.<|im_end|>\nLa caf\u00e9 \U0001f600 ends"


def test_shape_of_an_echo(engine: Engine, model_folder: Path) -> None:
    data = ask(engine, prompt=PROMPT, max_tokens=0, echo=True, logprobs=2, temperature=0)
    assert set(data) == {"id", "object", "created", "model", "choices", "usage"}
    assert data["id"].startswith("cmpl-")
    assert (data["object"], data["model"]) == ("text_completion", NAME)
    (choice,) = data["choices"]
    assert set(choice) == {"index", "text", "logprobs", "finish_reason", "stop_reason"}
    assert (choice["index"], choice["text"], choice["finish_reason"]) == (0, PROMPT, "length")
    block = choice["logprobs"]
    assert set(block) == {"text_offset", "token_logprobs", "tokens", "top_logprobs"}
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    ids = tokenizer(PROMPT)["input_ids"]
    assert {len(values) for values in block.values()} == {len(ids)}
    assert data["usage"] == {"prompt_tokens": len(ids), "total_tokens": len(ids), "completion_tokens": 0}
    assert block["tokens"] == [tokenizer.decode([index]) for index in ids]
    assert block["tokens"][0] == "<|im_start|>"
    assert (block["token_logprobs"][0], block["top_logprobs"][0]) == (None, None)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    with torch.no_grad():
        truth = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], dim=-1)
    for place in range(1, len(ids)):
        value = block["token_logprobs"][place]
        assert value == pytest.approx(float(truth[place - 1, ids[place]]), abs=1e-4)
        tops = block["top_logprobs"][place]
        # The token itself and the two likeliest; parts of characters may share one text.
        assert 1 <= len(tops) <= 3
        assert block["tokens"][place] in tops
        assert max(tops.values()) == pytest.approx(float(truth[place - 1].max()), abs=1e-4)
    offsets = block["text_offset"]
    assert offsets == sorted(offsets)
    for token, offset in zip(block["tokens"], offsets, strict=True):
        assert "\ufffd" in token or PROMPT.startswith(token, offset)


def test_log_probabilities_from_a_place_on(engine: Engine) -> None:
    place = PROMPT.index("La")
    whole = ask(engine, prompt=PROMPT, max_tokens=0, echo=True, logprobs=0)["choices"][0]["logprobs"]
    part = ask(engine, prompt=PROMPT, max_tokens=0, echo=True, logprobs=0, logprobs_from=place)["choices"][0][
        "logprobs"
    ]
    assert part["tokens"] == whole["tokens"]
    first = next(n for n, value in enumerate(part["token_logprobs"]) if value is not None)
    assert whole["text_offset"][first] <= place < whole["text_offset"][first + 1]
    assert part["token_logprobs"][first:] == pytest.approx(whole["token_logprobs"][first:], abs=1e-4)


def test_many_prompts_and_token_ids(engine: Engine) -> None:
    ids = list(engine.text.encode(PROMPT, special=True).ids)
    texts = ask(engine, prompt=[PROMPT, "Other", PROMPT], max_tokens=0, echo=True, logprobs=0)
    numbers = ask(engine, prompt=[ids, [5, 6]], max_tokens=0, echo=True, logprobs=0)
    one = ask(engine, prompt=ids, max_tokens=0, echo=True, logprobs=0)
    assert [choice["index"] for choice in texts["choices"]] == [0, 1, 2]
    assert [choice["text"] for choice in texts["choices"]] == [PROMPT, "Other", PROMPT]
    expected = texts["choices"][0]["logprobs"]["token_logprobs"]
    for other in (texts["choices"][2], numbers["choices"][0], one["choices"][0]):
        assert other["logprobs"]["token_logprobs"][1:] == pytest.approx(expected[1:], abs=1e-4)
        assert other["text"] == PROMPT
    other = len(engine.text.encode("Other", special=True).ids)
    assert texts["usage"]["prompt_tokens"] == 2 * len(ids) + other


def test_completion_with_and_without_echo(engine: Engine) -> None:
    body = {"prompt": "Hello", "max_tokens": 5, "temperature": 0, "ignore_eos": True}
    bare = ask(engine, **body)["choices"][0]
    assert bare["logprobs"] is None
    echoed = ask(engine, **body, echo=True, logprobs=1)
    choice = echoed["choices"][0]
    assert choice["text"] == "Hello" + bare["text"]
    prompt = echoed["usage"]["prompt_tokens"]
    assert echoed["usage"]["completion_tokens"] == 5
    assert len(choice["logprobs"]["tokens"]) == prompt + 5
    assert choice["logprobs"]["text_offset"][prompt] == len("Hello")
    assert all(value <= 0 for value in choice["logprobs"]["token_logprobs"][1:])
    alone = ask(engine, **body, logprobs=1)["choices"][0]["logprobs"]
    assert alone["tokens"] == choice["logprobs"]["tokens"][prompt:]
    assert alone["text_offset"][0] == 0


def test_health_and_models(engine: Engine) -> None:
    async def use(url: str, _: Post) -> tuple[int, dict[str, Any]]:
        async with aiohttp.ClientSession() as session:
            async with session.get(url + "/health") as response:
                status = response.status
            async with session.get(url + "/v1/models") as response:
                return status, orjson.loads(await response.read())

    status, models = with_server(engine, use)
    assert status == 200
    (card,) = models["data"]
    assert (models["object"], card["id"], card["object"], card["max_model_len"]) == ("list", NAME, "model", 2048)
    assert card["gavel"]["logprobs_from"] is True


ERRORS: list[tuple[Any, int, str]] = [
    (b"{", 400, "not valid JSON"),
    (b"", 400, "not valid JSON"),
    (b"\xff\xfe", 400, "not valid JSON"),
    (b"[]", 400, "must be a JSON object"),
    ({"prompt": "a"}, 400, "model"),
    ({"model": NAME}, 400, "prompt"),
    ({"model": 3, "prompt": "a"}, 400, "model"),
    ({"model": "gpt-9", "prompt": "a"}, 404, "this server has `judge-model`"),
    ({"model": NAME, "prompt": "a" * 9000}, 400, "maximum context length is 2048 tokens"),
    ({"model": NAME, "prompt": "a", "max_tokens": 2048}, 400, "maximum context length is 2048 tokens"),
    ({"model": NAME, "prompt": ""}, 400, "prompt"),
    ({"model": NAME, "prompt": []}, 400, "prompt"),
    ({"model": NAME, "prompt": ["a", ""]}, 400, "prompt 1 is empty"),
    ({"model": NAME, "prompt": [[]]}, 400, "prompt"),
    ({"model": NAME, "prompt": [1, "a"]}, 400, "prompt"),
    ({"model": NAME, "prompt": {"a": 1}}, 400, "prompt"),
    ({"model": NAME, "prompt": None}, 400, "prompt"),
    ({"model": NAME, "prompt": [True]}, 400, "prompt"),
    ({"model": NAME, "prompt": [1.5]}, 400, "prompt"),
    ({"model": NAME, "prompt": [5, 4096]}, 400, "token id 4096 is outside the vocabulary"),
    ({"model": NAME, "prompt": [-1]}, 400, "token id -1 is outside the vocabulary"),
    ({"model": NAME, "prompt": "a", "max_tokens": -1}, 400, "max_tokens"),
    ({"model": NAME, "prompt": "a", "max_tokens": "5"}, 400, "max_tokens"),
    ({"model": NAME, "prompt": "a", "max_tokens": 1.5}, 400, "max_tokens"),
    ({"model": NAME, "prompt": "a", "echo": "yes"}, 400, "echo"),
    ({"model": NAME, "prompt": "a", "logprobs": 6}, 400, "logprobs"),
    ({"model": NAME, "prompt": "a", "logprobs": -1}, 400, "logprobs"),
    ({"model": NAME, "prompt": "a", "logprobs": True}, 400, "logprobs"),
    ({"model": NAME, "prompt": "a", "temperature": -0.1}, 400, "temperature"),
    ({"model": NAME, "prompt": "a", "temperature": "hot"}, 400, "temperature"),
    ({"model": NAME, "prompt": "a", "top_p": 0}, 400, "top_p"),
    ({"model": NAME, "prompt": "a", "stop": 7}, 400, "stop"),
    ({"model": NAME, "prompt": "a", "stop": ["a"] * 5}, 400, "stop"),
    ({"model": NAME, "prompt": "a", "n": 2}, 400, "n=2 is not supported"),
    ({"model": NAME, "prompt": "a", "stream": True}, 400, "stream=True is not supported"),
    ({"model": NAME, "prompt": "a", "best_of": 3}, 400, "best_of=3 is not supported"),
    ({"model": NAME, "prompt": "a", "logit_bias": {"5": 1}}, 400, "logit_bias"),
    ({"model": NAME, "prompt": "a", "suffix": "z"}, 400, "suffix"),
    (
        {"model": NAME, "prompt": "a", "prompt_logprobs": 1},
        400,
        "Unrecognized request argument supplied: prompt_logprobs",
    ),
    ({"model": NAME, "prompt": "a", "logprobs_from": [1, 2]}, 400, "logprobs_from has 2 entries for 1 prompts"),
    ({"model": NAME, "prompt": "a", "logprobs_from": -1}, 400, "logprobs_from"),
]


def test_every_mistake_is_an_error_object_that_names_it(engine: Engine) -> None:
    async def use(url: str, post: Post) -> None:
        for body, expected, message in ERRORS:
            status, data = await post(body)
            assert (status, set(data)) == (expected, {"error"}), body
            assert set(data["error"]) == {"message", "type", "param", "code"}
            assert message in data["error"]["message"], (body, data)
        assert (await post({"model": NAME, "prompt": "a", "max_tokens": 0}))[0] == 200
        async with aiohttp.ClientSession() as session:
            for method, path, expected in (("GET", "/v1/completions", 405), ("POST", "/v1/embeddings", 404)):
                async with session.request(method, url + path) as response:
                    assert response.status == expected
                    assert "error" in orjson.loads(await response.read())
            async with session.post(url + "/v1/completions", data=b" " * (17 << 20)) as response:
                assert response.status == 413

    with_server(engine, use)


def test_neutral_values_of_unsupported_fields_pass(engine: Engine) -> None:
    data = ask(
        engine, prompt="a", max_tokens=0, n=1, best_of=1, stream=False, presence_penalty=0.0, frequency_penalty=0,
        suffix=None, logit_bias=None, user="me", seed=1, stop=None,
    )  # fmt: skip
    assert len(data["choices"]) == 1


def test_requests_of_many_connections_share_batches(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    answer = engine.answer

    def counted(jobs: list[Job]) -> list[Answer]:
        sizes.append(len(jobs))
        return answer(jobs)

    monkeypatch.setattr(engine, "answer", counted)

    async def use(_: str, post: Post) -> list[tuple[int, dict[str, Any]]]:
        body = {"model": NAME, "max_tokens": 0, "echo": True, "logprobs": 0}
        return await asyncio.gather(*(post({**body, "prompt": f"Text number {n}"}) for n in range(24)))

    results = with_server(engine, use)
    assert [data["choices"][0]["text"] for _, data in results] == [f"Text number {n}" for n in range(24)]
    assert sum(sizes) == 24
    assert len(sizes) < 12


def test_an_engine_that_fails_is_a_500_and_the_next_request_is_served(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = engine.answer
    calls: list[int] = []

    def sometimes(jobs: list[Job]) -> list[Answer]:
        calls.append(len(jobs))
        if len(calls) == 1:
            raise RuntimeError("not enough memory: you tried to allocate 1 byte")
        return answer(jobs)

    monkeypatch.setattr(engine, "answer", sometimes)

    async def use(_: str, post: Post) -> None:
        body = {"model": NAME, "prompt": "a", "max_tokens": 0}
        status, data = await post(body)
        assert (status, data["error"]["type"]) == (500, "server_error")
        assert "not enough memory" in data["error"]["message"]
        assert (await post(body))[0] == 200

    with_server(engine, use)


@pytest.mark.parametrize("response", ["A cat sleeps.", "\U0001f600 caf\u00e9 \u65e5\u672c\u8a9e", "a<|im_end|>b", "x"])
def test_verdicts_equal_a_hand_calculation(engine: Engine, model_folder: Path, response: str) -> None:
    asked = sample(response, ANIMAL, FOOD)

    async def use(url: str, _: Post) -> Any:
        judge = build_judge(spec(model_name=NAME, timeout_seconds=60.0), REWARD, url, None)
        verdicts = await judge.judge(asked)
        await judge.close()
        return verdicts

    verdicts = with_server(engine, use)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    protocol = build_protocol(REWARD)
    sums = []
    for prefix in protocol.prefixes(asked):
        # The template ends in a line break, which this tokenizer never joins with what follows.
        head = tokenizer(prefix)["input_ids"]
        ids = head + tokenizer(protocol.response(asked))["input_ids"]
        with torch.no_grad():
            truth = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], dim=-1)
        sums.append(math.fsum(float(truth[place - 1, ids[place]]) for place in range(len(head), len(ids))))
    for verdict, total in zip(verdicts, sums[1:], strict=True):
        ratio = total - sums[0]
        assert verdict.log_ratio == pytest.approx(ratio, abs=2e-3)
        assert verdict.probability == pytest.approx(1 / (1 + math.exp(-ratio / 4)), abs=1e-3)
        assert verdict.status is (VerdictStatus.MET if ratio > 0 else VerdictStatus.UNMET)
