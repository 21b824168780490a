"""Routes and fields of each provider; the expected bodies follow their documentation and error pages."""

from typing import Any

import orjson
import pytest
from judge_servers import spec

from components.core.errors import JudgeError
from components.judge.calls import Call, Message
from components.judge.profiles import Profile, profile_for

SCHEMA = {
    "type": "object",
    "properties": {"c1": {"enum": ["met", "unmet"]}},
    "required": ["c1"],
    "additionalProperties": False,
}
CALL = Call(
    (Message("system", "Answer in JSON."), Message("user", "Is it so?")),
    max_tokens=64,
    temperature=0.0,
    top_logprobs=5,
    schema=SCHEMA,
)
DASHSCOPE = "https://dashscope.aliyuncs.com"


def body(endpoint: str, call: Call = CALL, **changes: Any) -> dict[str, Any]:
    judge = spec(endpoint=endpoint, answer_logprobs=True, **changes)
    return profile_for(judge, endpoint).body(call, judge)


def chosen(endpoint: str, **changes: Any) -> Profile:
    return profile_for(spec(endpoint=endpoint, **changes), endpoint)


@pytest.mark.parametrize(
    ("endpoint", "name", "route"),
    [
        ("https://dashscope.aliyuncs.com", "dashscope", "/compatible-mode/v1/chat/completions"),
        ("https://dashscope-intl.aliyuncs.com/", "dashscope", "/compatible-mode/v1/chat/completions"),
        ("https://cn-hongkong.dashscope.aliyuncs.com", "dashscope", "/compatible-mode/v1/chat/completions"),
        ("https://dashscope-us.aliyuncs.com/compatible-mode", "dashscope", "/v1/chat/completions"),
        ("https://some.maas.aliyuncs.com/compatible-mode/", "dashscope", "/v1/chat/completions"),
        ("https://api.openai.com", "openai", "/v1/chat/completions"),
        ("https://eu.api.openai.com", "openai", "/v1/chat/completions"),
        ("http://judge.ns.svc/openai", "kserve", "/v1/chat/completions"),
        ("http://127.0.0.1:8000", "generic", "/v1/chat/completions"),
        ("https://api.openai.com.example.org", "generic", "/v1/chat/completions"),
        ("https://dashscope.aliyuncs.com.example.org", "generic", "/v1/chat/completions"),
    ],
)
def test_the_endpoint_tells_the_profile(endpoint: str, name: str, route: str) -> None:
    profile = chosen(endpoint)
    assert (profile.name, profile.chat_route) == (name, route)


@pytest.mark.parametrize(
    ("serving", "name", "route"),
    [
        ("embedded", "generic", "/v1/chat/completions"),
        ("vllm", "vllm", "/v1/chat/completions"),
        ("kserve", "vllm", "/v1/chat/completions"),
    ],
)
def test_serving_tells_the_profile(serving: str, name: str, route: str) -> None:
    judge = spec(serving=serving, endpoint=None, source={"kind": "tiny"})
    profile = profile_for(judge, "http://127.0.0.1:1")
    assert (profile.name, profile.chat_route) == (name, route)


@pytest.mark.parametrize(
    ("runtime", "name", "route"),
    [
        ("gavel-vllm", "vllm", "/v1/chat/completions"),
        ("gavel-cpu", "generic", "/v1/chat/completions"),
        ("kserve-huggingfaceserver", "kserve", "/openai/v1/chat/completions"),
    ],
)
def test_the_runtime_of_an_inference_service_tells_the_profile(runtime: str, name: str, route: str) -> None:
    judge = spec(serving="kserve", endpoint=None, source={"kind": "tiny"}, deployment={"runtime": runtime})
    profile = profile_for(judge, "http://judge-predictor.gavel.svc.cluster.local")
    assert (profile.name, profile.chat_route) == (name, route)


def test_a_named_profile_wins_over_the_endpoint() -> None:
    assert chosen("https://api.openai.com", profile="vllm").name == "vllm"
    assert chosen("http://127.0.0.1:8000", profile="kserve").completions_route == "/openai/v1/completions"


def test_all_routes_have_the_prefix() -> None:
    profile = chosen("http://127.0.0.1:8000", profile="kserve")
    assert (profile.models_route, profile.chat_route) == ("/openai/v1/models", "/openai/v1/chat/completions")


def test_a_generic_server_gets_standard_fields_alone() -> None:
    assert body("http://127.0.0.1:8000", thinking=False) == {
        "model": "scripted-model",
        "messages": [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "Is it so?"}],
        "max_tokens": 64,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 5,
    }


def test_no_log_probabilities_are_asked_of_a_judge_without_them() -> None:
    judge = spec(answer_logprobs=False)
    made = profile_for(judge, "http://127.0.0.1:8000").body(CALL, judge)
    assert "logprobs" not in made
    assert "top_logprobs" not in made


def test_vllm_gets_the_schema_and_the_template_switch() -> None:
    made = body("http://127.0.0.1:8000", profile="vllm", thinking=False)
    assert made["response_format"] == {"type": "json_schema", "json_schema": {"name": "verdicts", "schema": SCHEMA}}
    assert made["chat_template_kwargs"] == {"enable_thinking": False}
    assert "enable_thinking" not in made
    assert "stream" not in made


def test_a_stream_asks_for_its_usage_where_that_is_accepted() -> None:
    made = body("http://127.0.0.1:8000", profile="vllm", stream="always")
    assert (made["stream"], made["stream_options"]) == (True, {"include_usage": True})
    assert "stream_options" not in body("http://127.0.0.1:8000", stream="always")


def test_openai_gets_the_new_length_field_and_a_strict_schema() -> None:
    made = body("https://api.openai.com", model_name="gpt-4.1-mini", thinking=True)
    assert "max_tokens" not in made
    assert made["max_completion_tokens"] == 64
    assert made["temperature"] == 0.0
    assert made["response_format"]["json_schema"] == {"name": "verdicts", "schema": SCHEMA, "strict": True}
    assert not {"enable_thinking", "chat_template_kwargs"} & set(made)


@pytest.mark.parametrize("model", ["o3-mini", "o1", "gpt-5", "gpt-5-mini-2025-08-07", "gpt-5.1"])
def test_openai_reasoning_models_get_neither_temperature_nor_logprobs(model: str) -> None:
    made = body("https://api.openai.com", model_name=model)
    assert not {"temperature", "logprobs", "top_logprobs", "max_tokens"} & set(made)
    assert made["max_completion_tokens"] == 64


@pytest.mark.parametrize("model", ["gpt-3.5-turbo", "gpt-4-turbo", "gpt-4o-2024-05-13", "o1-mini"])
def test_openai_models_without_structured_output_get_no_schema(model: str) -> None:
    assert "response_format" not in body("https://api.openai.com", model_name=model)


def test_a_schema_that_strict_mode_rejects_goes_without_it() -> None:
    loose = {"type": "object", "properties": {"c1": {"type": "object", "properties": {}}}, "required": ["c1"]}
    call = Call(CALL.messages, max_tokens=8, schema={**loose, "additionalProperties": False})
    made = body("https://api.openai.com", call, model_name="gpt-4o")
    assert "strict" not in made["response_format"]["json_schema"]


def test_qwq_plus_is_streamed_without_a_thinking_switch() -> None:
    made = body(DASHSCOPE, model_name="qwq-plus", thinking=True)
    assert made["stream"] is True
    assert made["stream_options"] == {"include_usage": True}
    assert not {"enable_thinking", "chat_template_kwargs", "response_format", "logprobs"} & set(made)


@pytest.mark.parametrize(
    ("model", "thinking", "streamed"),
    [
        ("qwq-plus", None, True),
        ("qwq-32b", False, True),
        ("qwen3-235b-a22b-thinking-2507", False, True),
        ("qwen3-32b", None, True),
        ("qwen3-32b", True, True),
        ("qwen3-32b", False, False),
        ("qwen3-30b-a3b-instruct-2507", None, False),
        ("qwen-plus", None, False),
        ("qwen-plus", True, True),
        ("qwen3-max", None, False),
        ("qwen2.5-72b-instruct", None, False),
    ],
)
def test_dashscope_streams_what_may_think(model: str, thinking: bool | None, streamed: bool) -> None:
    made = body(DASHSCOPE, model_name=model, thinking=thinking)
    assert made.get("stream", False) is streamed


def test_dashscope_takes_json_mode_and_few_alternatives_from_a_model_that_does_not_think() -> None:
    call = Call(CALL.messages, max_tokens=8, top_logprobs=20, schema=SCHEMA)
    made = body(DASHSCOPE, call, model_name="qwen-plus", thinking=False)
    assert made["response_format"] == {"type": "json_object"}
    assert made["enable_thinking"] is False
    assert made["top_logprobs"] == 5


def test_dashscope_json_mode_needs_the_word_in_the_prompt() -> None:
    call = Call((Message("user", "Is it so?"),), max_tokens=8, schema=SCHEMA)
    assert "response_format" not in body(DASHSCOPE, call, model_name="qwen-plus", thinking=False)


def test_forbidding_the_stream_of_a_model_that_only_streams_is_an_error() -> None:
    with pytest.raises(JudgeError, match="qwq-plus only as a stream") as caught:
        chosen(DASHSCOPE, model_name="qwq-plus", stream="never")
    assert "stream: auto" in caught.value.remedy


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"error": {"code": "data_inspection_failed", "message": "Input data may contain ..."}}, True),
        ({"code": "DataInspectionFailed", "message": "..."}, True),
        ({"error": {"code": "content_filter", "status": 400}}, True),
        ({"error": {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, True),
        ({"error": {"code": "invalid_parameter_error", "message": "data_inspection_failed"}}, False),
        ({"error": "content_filter"}, False),
        ({"error": {"code": 400, "type": "BadRequestError"}}, False),
        ([], False),
    ],
)
def test_content_filters_are_refusals(body: Any, refused: bool) -> None:
    assert chosen("http://127.0.0.1:1").refused(orjson.dumps(body)) is refused


def test_an_error_without_a_readable_body_is_no_refusal() -> None:
    profile = chosen("https://api.openai.com")
    assert not profile.refused(None)
    assert not profile.refused(b"<html>content_filter</html>")
    assert profile.refused(orjson.dumps({"error": {"code": "invalid_prompt"}}))
