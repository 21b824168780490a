"""Server-sent events cut anywhere, and what each way of ending means."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from components.judge.failures import ReplyTrouble
from components.judge.sse import Event, EventParser
from components.judge.stream import assemble
from components.judge.verdict import UnknownReason

DONE = b"data: [DONE]\n\n"


def data(value: Any) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def delta(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    inner = {} if text is None else {"content": text}
    return data({"id": "x", "choices": [{"index": 0, "delta": {**inner, **more}, "finish_reason": finish}]})


def read(*chunks: bytes) -> dict[str, Any]:
    async def give() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return asyncio.run(assemble(give()))


def trouble(*chunks: bytes) -> ReplyTrouble:
    with pytest.raises(ReplyTrouble) as caught:
        read(*chunks)
    return caught.value


def text(found: dict[str, Any]) -> Any:
    return found["choices"][0]["message"]["content"]


def test_the_standard_s_own_examples() -> None:
    # WHATWG HTML, section 9.2.6: a comment, two events of one line, one of two lines, an event with an empty line.
    parser = EventParser()
    stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
    assert [event.data for event in parser.feed(stream)] == [b"first event", b"second event", b" third event"]
    parser = EventParser()
    assert parser.feed(b"data\n\ndata\ndata\n\ndata:") == [Event("message", b""), Event("message", b"\n")]
    parser = EventParser()
    assert parser.feed(b"\xef\xbb\xbfevent: add\ndata: 1\ndata: 2\r\n\r\n") == [Event("add", b"1\n2")]


LINES = st.sampled_from(
    [b"data: {}", b"data: \xc3\xa9", b"data:x", b": note", b"event: error", b"", b"id: 1", b"retry"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(lines=st.lists(st.tuples(LINES, ENDS)), cuts=st.lists(st.integers(0, 400)))
def test_where_the_bytes_are_cut_makes_no_difference(lines: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    whole = b"".join(line + end for line, end in lines)
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    one, many = EventParser(), EventParser()
    expected = [*one.feed(whole), *one.close()]
    found = [event for a, b in itertools.pairwise(places) for event in many.feed(whole[a:b])]
    assert [*found, *many.close()] == expected


@given(st.lists(st.text(), min_size=1), st.integers(1, 7))
def test_every_text_survives_any_chunking(texts: list[str], size: int) -> None:
    whole = b"".join(delta(each) for each in texts) + delta(finish="stop") + DONE
    found = read(*(whole[start : start + size] for start in range(0, len(whole), size)))
    assert text(found) == "".join(texts)


def test_reasoning_refusal_log_probabilities_and_usage_are_kept_apart() -> None:
    token = {"token": "yes", "logprob": -0.1, "top_logprobs": []}
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    found = read(
        delta(role="assistant", reasoning_content="hm, "),
        delta(reasoning="well"),
        data({"choices": [{"index": 0, "delta": {"content": "yes"}, "logprobs": {"content": [token]}}]}),
        data({"choices": [{"index": 1, "delta": {"content": "another choice"}}]}),
        delta(finish="stop"),
        data({"choices": [], "usage": usage}),
        DONE,
    )
    assert found["choices"][0]["message"] == {
        "role": "assistant",
        "content": "yes",
        "reasoning_content": "hm, well",
    }
    assert found["choices"][0]["logprobs"] == {"content": [token]}
    assert (found["usage"], found["object"], found["id"]) == (usage, "chat.completion", "x")


@pytest.mark.parametrize(
    ("error", "again"),
    [
        ({"error": {"message": "boom", "code": 500}}, True),
        ({"error": {"message": "slow down", "code": 429}}, True),
        ({"error": {"message": "boom"}}, True),
        ({"error": "boom"}, True),
        ({"object": "error", "message": "bad", "code": 400}, False),
        ({"error": {"message": "bad", "code": "invalid_parameter_error"}}, False),
        ({"error": {"message": "filter", "code": "data_inspection_failed"}}, False),
        ({"code": "Throttling", "message": "busy", "request_id": "1"}, True),
    ],
)
def test_an_error_inside_the_stream_is_never_an_answer(error: dict[str, Any], again: bool) -> None:
    found = trouble(delta("met"), data(error), DONE)
    assert (found.reason, found.again) == (UnknownReason.STREAM_ERROR, again)
    assert found.body == orjson.dumps(error)


def test_an_error_event_counts_whatever_its_data_looks_like() -> None:
    found = trouble(b'event: error\ndata: {"choices": []}\n\n', delta("met", "stop"), DONE)
    assert found.reason is UnknownReason.STREAM_ERROR


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        (delta("met"),),
        (delta("met"), b'data: {"choices": [{"ind'),
        (b": keep-alive\n\n",),
        (b'{"choices": [{"message": {"content": "me',),
    ],
)
def test_a_stream_without_end_is_cut(chunks: tuple[bytes, ...]) -> None:
    found = trouble(*chunks)
    assert (found.reason, found.again) == (UnknownReason.STREAM_CUT, True)


def test_an_end_marker_without_a_finish_reason_is_its_own_failure() -> None:
    assert trouble(delta("met"), DONE).reason is UnknownReason.NO_FINISH


def test_a_finish_reason_without_the_end_marker_is_enough() -> None:
    assert text(read(delta("met"), delta(finish="stop"))) == "met"
    assert text(read(delta("met", "stop").rstrip())) == "met"


def test_nothing_counts_behind_the_end_marker() -> None:
    assert text(read(delta("met", "stop"), DONE, data({"error": "late"}))) == "met"


@pytest.mark.parametrize("junk", [b"data: not json\n\n", b"data: 1\n\n"])
def test_an_event_that_is_no_object_is_an_error(junk: bytes) -> None:
    assert trouble(delta("met"), junk, delta(finish="stop"), DONE).reason is UnknownReason.STREAM_ERROR


def test_a_server_that_ignores_the_wish_for_a_stream_is_understood() -> None:
    whole = {"object": "chat.completion", "choices": [{"message": {"content": "met"}, "finish_reason": "stop"}]}
    assert read(b"\n" + orjson.dumps(whole)[:20], orjson.dumps(whole)[20:]) == whole
    assert trouble(orjson.dumps({"error": {"message": "bad"}})).reason is UnknownReason.STREAM_ERROR


def test_a_connection_that_breaks_is_a_cut_unless_the_reply_was_whole() -> None:
    async def ask(*events: bytes) -> dict[str, Any]:
        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            for event in events:
                await response.write(event)
            assert request.transport is not None
            request.transport.close()
            return response

        app = web.Application()
        app.router.add_get("/", answer)
        server = TestServer(app)
        await server.start_server()
        try:
            async with aiohttp.ClientSession() as session, session.get(server.make_url("/")) as response:
                return await assemble(response.content.iter_any())
        finally:
            await server.close()

    with pytest.raises(ReplyTrouble) as caught:
        asyncio.run(ask(delta("met")))
    assert caught.value.reason is UnknownReason.STREAM_CUT
    assert text(asyncio.run(ask(delta("met"), delta(finish="stop")))) == "met"


@pytest.mark.parametrize(
    ("said", "finish"),
    [(("content_filter", "stop"), "content_filter"), (("length", "stop"), "length"), (("stop", "length"), "length")],
)
def test_a_later_chunk_does_not_make_good_what_an_earlier_one_said(said: tuple[str, str], finish: str) -> None:
    chunks = [delta("met", said[0]), delta(None, said[1]), DONE]
    assert read(*chunks)["choices"][0]["finish_reason"] == finish


def test_a_long_line_in_small_pieces_is_read_whole() -> None:
    parser = EventParser()
    assert [event for _ in range(20_000) for event in parser.feed(b"data"[:0] + b"x" * 64)] == []
    assert parser.feed(b"\n\n") == []
    parser.feed(b"data: ")
    for _ in range(20_000):
        assert parser.feed(b"y" * 64) == []
    assert parser.feed(b"\r") == []
    assert [len(event.data) for event in parser.feed(b"\n\n")] == [64 * 20_000]


def of(name: object, text: str, finish: str | None = None) -> bytes:
    """A chunk of the reply with that id."""
    return data({"id": name, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]})


@pytest.mark.parametrize(
    "chunks",
    [
        [of("a", '{"c1": "met"}'), of("a", "", "stop"), of("b", '{"c1": "unmet"}'), of("b", "", "stop"), DONE],
        [of("a", '{"c1"'), of("b", '{"c1"'), of("a", ': "met"}'), of("b", ': "unmet"}', "stop"), of("a", "", "stop")],
        [of("a", "yes", "stop"), of("b", "no", "stop"), DONE],
        [of("a", "y"), of("b", "n"), of("c", "m"), of("a", "", "stop"), of("b", "", "stop"), DONE],
        [of("a", "yes"), of("b", " no"), of("a", " or"), of("c", " so", "stop"), DONE],
    ],
    ids=["behind one another", "mixed", "a chunk each", "three mixed", "one of three comes again"],
)
def test_chunks_of_two_replies_are_not_one(chunks: list[bytes]) -> None:
    found = trouble(*chunks)
    assert (found.reason, found.again) == (UnknownReason.STREAM_ERROR, True)
    assert "'a', 'b'" in str(found)


@pytest.mark.parametrize(
    "chunks",
    [
        [of("", ""), of("a", "ye"), of("a", "s"), of("", "", "stop"), DONE],
        [of("", "ye"), of("a", "s"), of("a", "", "stop"), DONE],
        [of(None, "ye"), of("a", "s"), of(7, "", "stop"), DONE],
        [of("first", ""), of("a", "ye"), of("a", "s"), of("last", "", "stop"), DONE],
        [of("a", "yes"), of("a", "", "stop"), data({"id": "usage", "choices": [], "usage": {}}), DONE],
        [of("1", "y"), of("2", "e"), of("3", "s"), of("4", "", "stop"), DONE],
        [of("a", "yes", "stop"), DONE, of("b", "no", "stop"), DONE],
    ],
    ids=["empty ends", "empty with content", "none, and no text", "others without content", "usage", "each", "ended"],
)
def test_ids_that_change_in_one_reply_do_no_harm(chunks: list[bytes]) -> None:
    assert text(read(*chunks)) == "yes"
