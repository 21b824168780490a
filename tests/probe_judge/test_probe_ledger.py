"""The probe's calls reach the store where there is one, and the step succeeds where there is none."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from components.core.errors import JudgeError
from components.core.spec import Experiment, load_experiment
from components.core.step import Published, execute
from components.core.store import Store
from components.judge.__main__ import main
from components.judge.memory.segments import join
from components.probe_judge.step import STEP

MET = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": '{"c1": "met"}'}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10},
}


@contextlib.contextmanager
def chat_judge(calls: list[dict[str, Any]]) -> Iterator[str]:
    found: list[str] = []
    ready, over = threading.Event(), threading.Event()

    async def chat(request: web.Request) -> web.Response:
        calls.append(orjson.loads(await request.read()))
        return web.json_response(MET)

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        server = TestServer(app)
        await server.start_server()
        found.append(str(server.make_url("")).rstrip("/"))
        ready.set()
        await asyncio.to_thread(over.wait)
        await server.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert ready.wait(10)
        yield found[0]
    finally:
        over.set()
        thread.join(10)


@pytest.fixture
def asked() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def experiment(asked: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Experiment]:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    with chat_judge(asked) as url:
        yield load_experiment(
            "tiny",
            [
                *("judge=external-example", f"judge.endpoint={url}", "judge.name=told", "judge.api_key_env=null"),
                *("reward.protocol=rubric", "reward.value=binary", "judge.budget.calls=7"),
            ],
        )


def run(experiment: Experiment, store: str) -> Published:
    return execute(STEP, experiment.to_json(), store, {})


def test_each_probe_adds_its_calls_to_the_store(
    experiment: Experiment, asked: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store.open((tmp_path / "store").as_uri())
    for probes in (1, 2):
        published = run(experiment, store.url)
        count = "SELECT COUNT(*), SUM(attempts), SUM(prompt_tokens) FROM calls WHERE judge = 'told'"
        assert join(store).execute(count).fetchone() == (3 * probes, 3 * probes, 300 * probes)
    assert len(asked) == 6
    assert {entry.key.split("/ledger/")[0] for entry in store.list()} == {f"tiny/probe-judge/{published.identity}"}
    # One call is left of the seven: the third probe says so, and what it asked is in the store as well.
    with pytest.raises(JudgeError, match=r"budget\.calls: 7 calls made of 7"):
        run(experiment, store.url)
    assert len(asked) == 7
    capsys.readouterr()
    assert main(["ledger", f"{store.url}/tiny"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("told "))
    assert "770" in line.split()


def test_without_a_store_the_probe_succeeds_and_says_where_its_ledger_is(
    experiment: Experiment, asked: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    published = run(experiment, (tmp_path / "store").as_uri())
    assert published.metadata["judge"] == "told"
    assert "ledger.sqlite and is not in the store" in capsys.readouterr().out
    assert main(["ledger", str(tmp_path / "state" / "work" / "tiny" / "probe-judge")]) == 0
    assert "330" in capsys.readouterr().out
    assert len(asked) == 3
