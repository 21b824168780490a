"""Where judges run: found by name, started once, ended exactly."""

import asyncio
import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from judge_servers import Scripted, good, spec

from components.core.errors import GavelError, JudgeError
from components.core.progress import Progress
from components.core.services.process import ProcessId
from components.core.spec.cluster import ClusterSpec, StoreSpec
from components.core.spec.source import TinySource
from components.judge import serve
from components.judge.endpoint import Endpoint, forget_endpoint, read_endpoint, record_endpoint, resolve_endpoint
from components.judge.leases.ended import Ended
from components.judge.placement import local
from components.judge.placement.base import choose_placement
from components.models.materialize import materialize

SOURCE = {"kind": "tiny", "seed": 1}


def cluster() -> ClusterSpec:
    store = StoreSpec(kind="folder")
    return ClusterSpec(name="c", placement="local", accelerator="cpu", store=store, memory_gib=1.0, disk_gib=1.0)


def progress() -> Progress:
    return Progress("test", stream=io.StringIO())


def test_endpoint_is_found_by_name(tmp_path: Path) -> None:
    here = spec(serving="embedded", endpoint=None, source=SOURCE)
    with pytest.raises(JudgeError, match="scripted is not deployed"):
        resolve_endpoint(here, tmp_path)
    record_endpoint("scripted", tmp_path, Endpoint("http://127.0.0.1:8001", "m"))
    assert resolve_endpoint(here, tmp_path) == "http://127.0.0.1:8001"
    record_endpoint("scripted", tmp_path, Endpoint("http://127.0.0.1:8002", "m", str(ProcessId.current())))
    assert resolve_endpoint(here, tmp_path) == "http://127.0.0.1:8002"
    forget_endpoint("scripted", tmp_path)
    forget_endpoint("scripted", tmp_path)
    with pytest.raises(JudgeError, match="not deployed"):
        resolve_endpoint(here, tmp_path)


def test_a_dead_process_is_told_with_its_log(tmp_path: Path) -> None:
    record_endpoint("scripted", tmp_path, Endpoint("http://127.0.0.1:8001", "m", "1:1.0", "some.log"))
    with pytest.raises(JudgeError, match=r"its process has ended\n.*some.log"):
        resolve_endpoint(spec(serving="embedded", endpoint=None, source=SOURCE), tmp_path)


def test_a_broken_record_is_no_record(tmp_path: Path) -> None:
    record_endpoint("scripted", tmp_path, Endpoint("u", "m"))
    (tmp_path / "judges" / "scripted.json").write_text("{")
    assert read_endpoint("scripted", tmp_path) is None


def test_an_external_judge_is_where_its_spec_says(tmp_path: Path) -> None:
    assert resolve_endpoint(spec(endpoint="http://127.0.0.1:7777/"), tmp_path) == "http://127.0.0.1:7777"


@pytest.fixture
def external() -> Iterator[str]:
    """A judge in a thread of its own, since placements run their own loop."""
    ready, over = threading.Event(), threading.Event()
    found: list[str] = []

    async def serve() -> None:
        async with Scripted(good).serve() as url:
            found.append(url)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait(10)
    yield found[0]
    over.set()
    thread.join(10)


def test_external_placement_asks_and_ends_nothing(external: str, tmp_path: Path) -> None:
    placement = choose_placement(spec(endpoint=external), cluster(), tmp_path)
    assert placement.up(progress()).url == external
    assert placement.down() is Ended.ABSENT
    assert placement.up(progress()).url == external


def test_external_placement_without_a_server(tmp_path: Path) -> None:
    placement = choose_placement(spec(timeout_seconds=0.1), cluster(), tmp_path)
    with pytest.raises(JudgeError, match="does not answer"):
        placement.up(progress())


@pytest.mark.parametrize("way", ["up", "serve"])
def test_vllm_is_not_started_on_broken_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    folder = materialize(TinySource(kind="tiny", seed=1), tmp_path / "cache")
    (folder / "model.safetensors").write_bytes(b"")
    judge = spec(serving="vllm", endpoint=None, source={"kind": "folder", "path": str(folder)})
    for module in (local, serve):
        monkeypatch.setattr(module, "vllm_command", lambda *_, **__: ["no-such-command", "--model", ""])
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    placement = choose_placement(judge, cluster(), tmp_path / "state")
    start = {"serve": lambda: serve.command_for(judge, 8000), "up": lambda: placement.up(progress())}[way]
    with pytest.raises(GavelError, match=r"model\.safetensors is a file of 0 bytes"):
        start()


def test_vllm_without_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    judge = spec(serving="vllm", endpoint=None, source=SOURCE)
    with pytest.raises(GavelError, match="vLLM is not installed"):
        choose_placement(judge, cluster(), tmp_path).up(progress())
