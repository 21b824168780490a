"""Items that a model writes, over real HTTP with a scripted model, and read back by the probes that take them."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from components.bias.__main__ import main
from components.bias.corpus import texts
from components.bias.mounted import Mounted
from components.bias.probe import Request, all_probes
from components.bias.readers.written import requests
from components.bias.types import Role
from components.core.errors import ContractError

_TEXT = re.compile(r"=== TEXT \w+ ===\n(.*?)\n=== END OF TEXT", re.DOTALL)


class Writer:
    """A model that swaps the text's halves, another number of words each time; what it is asked is counted.

    Args:
        odd: replies of another kind, by the text's first words.
    """

    def __init__(self, mark: str, odd: dict[str, str] | None = None) -> None:
        self.mark, self.odd, self.calls = mark, odd or {}, 0

    async def chat(self, request: web.Request) -> web.Response:
        self.calls += 1
        body = orjson.loads(await request.read())
        found = _TEXT.search("\n".join(each["content"] for each in body["messages"]))
        assert found
        words = found[1].split()
        reply = next((self.odd[start] for start in self.odd if found[1].startswith(start)), None)
        if reply is None:
            middle = len(words) // 2
            told = [f"{self.mark}{self.calls}:", *words[middle:], *words[:middle]]
            reply = json.dumps({"text": " ".join(told)})
        message = {"role": "assistant", "content": reply}
        data = {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 10},
        }
        return web.Response(body=orjson.dumps(data), content_type="application/json")


@contextmanager
def serving(writer: Writer) -> Iterator[str]:
    """The model in a thread of its own, since the command has its own event loop."""
    loop, ready, told = asyncio.new_event_loop(), threading.Event(), []

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", writer.chat)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        told.append(runner.addresses[0][1])
        return runner

    def run() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(30)
    try:
        yield f"http://127.0.0.1:{told[0]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)


def _write(folder: Path, writer: Writer, model: str, family: str, kind: str = "responses", draws: str = "1") -> int:
    spec = folder / f"{model}.yaml"
    keys = {
        "name": model,
        "family": family,
        "model_name": model,
        "serving": "external",
        "endpoint": "http://127.0.0.1:1",
        "profile": "generic",
        "context_tokens": 16384,
        "logprobs": False,
        "cache": False,
    }
    spec.write_text(json.dumps(keys), encoding="utf-8")
    with serving(writer) as url:
        return main(
            [
                "rewrite",
                "--model",
                str(spec),
                "--kind",
                kind,
                "--draws",
                draws,
                "--endpoint",
                url,
                "--output",
                str(folder),
            ]
        )


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))


def test_two_models_write_what_self_preference_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _write(tmp_path, Writer("a"), "model-a", "A", draws="2") == 0
    assert f"{4 * len(texts())} texts of {len(texts())}" in capsys.readouterr().out
    assert _write(tmp_path, Writer("b"), "model-b", "B", draws="2") == 0
    (first, *_) = requests(Mounted(tmp_path))
    assert [(each.model, each.quality) for each in first.responses] == [
        (model, quality) for model in ("model-a", "model-b") for quality in (1.0, 1.0, 0.0, 0.0)
    ]
    items = all_probes()["self_preference"].build(Request(0, Mounted(tmp_path), "model-a", "A"))
    assert isinstance(items, list)
    # Of each text two own and two others' of either quality: eight pairs of equals, eight of unequals.
    assert sum(item.gold is None for item in items) == sum(item.gold is not None for item in items) == 8 * len(texts())
    assert all(item.forms[Role.CHANGED].response.startswith("a") for item in items)
    assert all(item.forms[Role.BASE].response.startswith("b") for item in items)
    assert {item.gold for item in items} == {None, Role.BASE, Role.CHANGED}


def test_refinements_are_read_by_the_probe(tmp_path: Path) -> None:
    assert _write(tmp_path, Writer("r"), "model-r", "R", "refinements", "2") == 0
    items = all_probes()["refinement"].build(Request(0, Mounted(tmp_path)))
    assert isinstance(items, list)
    assert len(items) == 4 * len(texts())
    assert {item.forms[Role.BASE].response for item in items} == {
        answer for text in texts() for answer in (text.good, text.worse)
    }


def test_what_is_no_rewriting_is_dropped_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = texts()[:3]
    odd = {
        first.good: json.dumps({"text": first.good}),
        second.good: json.dumps({"text": "Too short."}),
        third.good: "I would rather not say anything in that form.",
    }
    writer = Writer("a", odd)
    assert _write(tmp_path, writer, "model-a", "A") == 0
    out = capsys.readouterr().out
    assert f"{2 * len(texts()) - 3} texts of {len(texts())}" in out
    assert "1 unchanged" in out
    assert "1 other_length" in out
    # What cannot be read is asked for once more, and then is none.
    assert "1 unparseable" in out or "1 refused" in out
    assert writer.calls == 2 * len(texts()) + 1
    rows = [
        json.loads(line) for line in (tmp_path / "responses-model-a.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [len(row["responses"]) for row in rows[:4]] == [1, 1, 1, 2]


def test_a_model_that_says_the_same_in_each_draw_wrote_it_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Same(Writer):
        async def chat(self, request: web.Request) -> web.Response:
            self.calls = 0
            return await super().chat(request)

    assert _write(tmp_path, Same("a"), "model-a", "A", draws="3") == 0
    assert f"dropped: {4 * len(texts())} drawn_before" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "before"), [("responses", None), ("refinements", "of an earlier run\n")])
def test_where_nothing_is_kept_no_file_is_written_and_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, before: str | None
) -> None:
    path = tmp_path / f"{kind}-model-a.jsonl"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    silent = Writer("a", {text.good[:20]: "{}" for text in texts()} | {text.worse[:20]: "{}" for text in texts()})
    assert _write(tmp_path, silent, "model-a", "A", kind) == 1
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == before
    assert not list(tmp_path.glob(".*.partial"))
    told = capsys.readouterr()
    assert f"dropped: {2 * len(texts())} unparseable" in told.out
    assert "they are in" not in told.out
    assert f"error: none of {2 * len(texts())} {kind} is kept, so that no file is written" in told.err
    assert "model model-a" in told.err


def test_lines_of_one_text_that_ask_different_things_are_refused(tmp_path: Path) -> None:
    rows = [
        {"text_id": "t", "question": question, "criteria": ["c"], "responses": []} for question in ("one?", "another?")
    ]
    (tmp_path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(ContractError, match="another question"):
        list(requests(Mounted(tmp_path)))
