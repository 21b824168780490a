"""Every way in which a chat completion can fail to be an answer has its own reason."""

import hashlib
import math
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.calls import Answer, AnswerToken, Usage
from components.judge.chat_reply import read_answer, read_tokens
from components.judge.failures import Failure
from components.judge.verdict import UnknownReason


def completion(content: Any = "met", finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": content, **message}, "finish_reason": finish}]}


def read(data: Any, logprobs: bool = False) -> Answer | Failure:
    return read_answer(data, orjson.dumps(data), attempts=2, seconds=0.5, logprobs=logprobs)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({}, UnknownReason.UNPARSEABLE),
        ({"choices": []}, UnknownReason.UNPARSEABLE),
        ({"choices": [{"text": "met", "finish_reason": "stop"}]}, UnknownReason.UNPARSEABLE),
        ({"choices": "met"}, UnknownReason.UNPARSEABLE),
        (completion(5), UnknownReason.UNPARSEABLE),
        (completion(finish=None), UnknownReason.NO_FINISH),
        (completion(finish=""), UnknownReason.NO_FINISH),
        (completion(finish="tool_calls"), UnknownReason.UNPARSEABLE),
        (completion(finish="abort"), UnknownReason.JUDGE_DOWN),
        (completion(finish="content_filter"), UnknownReason.REFUSED),
        (completion(finish=7), UnknownReason.UNPARSEABLE),
        (completion(None, refusal="I cannot help with that."), UnknownReason.REFUSED),
        (completion(""), UnknownReason.EMPTY_REPLY),
        (completion(" \n"), UnknownReason.EMPTY_REPLY),
        (completion(None, reasoning="long thoughts"), UnknownReason.EMPTY_REPLY),
        (completion("", "length", reasoning_content="long thoughts"), UnknownReason.TRUNCATED),
        (completion([]), UnknownReason.EMPTY_REPLY),
    ],
)
def test_a_reply_without_an_answer_has_a_reason(data: Any, reason: UnknownReason) -> None:
    found = read(data)
    assert isinstance(found, Failure)
    assert (found.reason, found.attempts, found.body) == (reason, 2, orjson.dumps(data))


def test_an_answer_has_its_text_usage_and_identity() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    data = {**completion("met", reasoning_content="hm"), "usage": usage}
    raw = orjson.dumps(data)
    assert read(data) == Answer("met", "stop", Usage(9, 3, 4), None, 2, hashlib.sha256(raw).hexdigest(), 0.5)


def test_a_cut_reply_says_so() -> None:
    found = read(completion('{"c1": "me', "length"))
    assert isinstance(found, Answer)
    assert found.finish == "length"


def test_text_in_parts_is_joined() -> None:
    found = read(completion([{"type": "text", "text": "me"}, {"type": "image"}, {"type": "text", "text": "t"}]))
    assert isinstance(found, Answer)
    assert found.text == "met"


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "9"}, {"prompt_tokens": -1}, {"prompt_tokens": True}])
def test_a_usage_that_says_nothing_is_zero(usage: Any) -> None:
    found = read({**completion(), "usage": usage})
    assert isinstance(found, Answer)
    assert found.usage == Usage()


def test_log_probabilities_of_the_reply() -> None:
    top = [{"token": "yes", "logprob": -0.25}, {"token": "no", "logprob": -9999.0}]
    data = completion()
    data["choices"][0]["logprobs"] = {"content": [{"token": "yes", "logprob": -0.25, "top_logprobs": top}]}
    found = read(data, logprobs=True)
    assert isinstance(found, Answer)
    assert found.tokens == (AnswerToken("yes", -0.25, (("yes", -0.25), ("no", -9999.0))),)
    unasked = read(data)
    assert isinstance(unasked, Answer)
    assert unasked.tokens is None


@pytest.mark.parametrize(
    "entry",
    [
        {"token": "yes"},
        {"token": "yes", "logprob": None},
        {"token": "yes", "logprob": 0.5},
        {"token": "yes", "logprob": math.nan},
        {"token": None, "logprob": -1.0},
        {"token": "yes", "logprob": -1.0, "top_logprobs": [{"token": "no"}]},
        "yes",
    ],
)
def test_what_is_no_log_probability_voids_them_all(entry: Any) -> None:
    good = {"token": "a", "logprob": -1.0}
    assert read_tokens({"content": [good]}) is not None
    assert read_tokens({"content": [good, entry]}) is None


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "finish_reason", "usage"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["choices", "usage", "id"]), ANY))
def test_no_reply_raises_and_no_answer_is_empty(data: dict[str, Any]) -> None:
    found = read(data, logprobs=True)
    assert isinstance(found, Failure) or found.text.strip()


def choice(index: int | None, text: str) -> dict[str, Any]:
    made: dict[str, Any] = {"message": {"content": text}, "finish_reason": "stop"}
    return made if index is None else {"index": index, **made}


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ([choice(1, "met"), choice(0, "unmet")], "unmet"),
        ([choice(None, "met")], "met"),
        ([choice(7, "met")], None),
        ([choice(0, "met"), choice(0, "unmet")], None),
    ],
)
def test_the_answer_is_the_choice_of_index_0(choices: list[dict[str, Any]], text: str | None) -> None:
    got = read({"choices": choices})
    assert (got.text if isinstance(got, Answer) else None) == text


@pytest.mark.parametrize("others", [5, True, "yes", {"a": 1}])
def test_alternatives_that_are_no_list_void_the_tokens(others: Any) -> None:
    assert read_tokens({"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": others}]}) is None
