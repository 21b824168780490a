"""Files from a path, a store and a hub that speaks HTTP."""

import asyncio
import gzip
import hashlib
import threading
from collections.abc import Iterator

import pytest
from aiohttp import web

from components.core.errors import ContractError, StorageError
from components.core.spec.mixture import DataFile, HubFile
from components.data.mixture import hub
from components.data.mixture.fetch import fetch

CONTENT = b'{"question": "How many?", "answer": "#### 1"}\n'
SHA = hashlib.sha256(CONTENT).hexdigest()
REVISION = "0123456789" * 4


class Hub:
    """A scripted hub in a thread of its own."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.failures: list[int] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, request.headers.get("Authorization")))
        if self.failures:
            return web.Response(status=self.failures.pop(0))
        if request.path.startswith("/datasets/"):
            if not request.path.endswith("train.jsonl"):
                return web.Response(status=404)
            raise web.HTTPFound("/cdn/blob")
        return web.Response(body=CONTENT)


@pytest.fixture
def server(monkeypatch) -> Iterator[Hub]:
    script, ready, loop = Hub(), threading.Event(), asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_get("/{path:.*}", script.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        script.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(30)
    monkeypatch.setenv("HF_ENDPOINT", script.url + "/")
    monkeypatch.setattr(hub.time, "sleep", lambda _: None)
    yield script
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)


def file(name: str = "main/train.jsonl", sha256: str = SHA) -> DataFile:
    return DataFile(hub=HubFile(repo="openai/gsm8k", revision=REVISION, file=name), sha256=sha256)


def test_a_file_of_the_hub_is_fetched_by_its_commit_and_once(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "some-token")
    found = fetch(file(), tmp_path)
    assert (found.path.read_bytes(), found.sha256, found.size) == (CONTENT, SHA, len(CONTENT))
    assert found.source == f"{server.url}/datasets/openai/gsm8k/resolve/{REVISION}/main/train.jsonl"
    # The token goes to the hub and not to where it leads.
    assert server.asked == [
        (f"/datasets/openai/gsm8k/resolve/{REVISION}/main/train.jsonl", "Bearer some-token"),
        ("/cdn/blob", None),
    ]
    assert fetch(file(), tmp_path).path == found.path
    assert len(server.asked) == 2


def test_another_content_than_the_pinned_one_is_refused_and_not_kept(server, tmp_path):
    with pytest.raises(ContractError, match="the experiment names 0000"):
        fetch(file(sha256="0" * 64), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_hub_is_asked_again(server, tmp_path):
    server.failures = [503, 429, 500]
    assert fetch(file(), tmp_path).sha256 == SHA


def test_a_hub_that_goes_on_failing_is_told(server, tmp_path):
    server.failures = [503] * hub.ATTEMPTS
    with pytest.raises(StorageError, match="503"):
        fetch(file(), tmp_path)
    assert len(server.asked) == hub.ATTEMPTS


@pytest.mark.parametrize(
    ("name", "failures", "said"), [("main/none.jsonl", [], "404"), ("main/train.jsonl", [401], "401")]
)
def test_what_asking_again_would_not_change_is_told_at_once(server, tmp_path, name, failures, said):
    server.failures = failures
    with pytest.raises(ContractError, match=said):
        fetch(file(name), tmp_path)
    assert len(server.asked) == 1


def test_an_unreachable_hub_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hub.time, "sleep", lambda _: None)
    with pytest.raises(StorageError, match="does not give the file"):
        fetch(file(), tmp_path)


def test_paths_and_stores(tmp_path):
    path, work = tmp_path / "train.jsonl", tmp_path / "work"
    path.write_bytes(CONTENT)
    work.mkdir()
    assert fetch(DataFile(path=str(path)), work).path == path
    packed = tmp_path / "HumanEval.jsonl.gz"
    packed.write_bytes(gzip.compress(CONTENT))
    same = fetch(DataFile(path=f"file://{packed}", sha256=hashlib.sha256(packed.read_bytes()).hexdigest()), work)
    assert same.path.read_bytes() == packed.read_bytes()
    stored = fetch(DataFile(path=f"file://{path}", sha256=SHA), work)
    assert stored.path.parent == work
    assert stored.path.read_bytes() == CONTENT
    for wrong in (DataFile(path=str(path), sha256="1" * 64), DataFile(path=f"{path}.none")):
        with pytest.raises(ContractError):
            fetch(wrong, work)
    with pytest.raises((ContractError, StorageError)):
        fetch(DataFile(path=f"file://{path}.none"), work)
