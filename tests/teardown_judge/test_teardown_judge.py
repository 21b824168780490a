"""The tear-down step ends one judge and leaves everything else."""

import io
import sys
from pathlib import Path

import pytest

from components.core.progress import Progress
from components.core.services.manager import ServiceManager, ServiceSpec
from components.core.spec import load_experiment
from components.core.step import StepContext
from components.judge.endpoint import Endpoint, read_endpoint, record_endpoint
from components.teardown_judge.step import STEP

SERVER = """
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def context(state: Path, *overrides: str) -> StepContext:
    experiment = load_experiment("tiny", overrides)
    return StepContext(experiment, {}, {}, state, state, "x" * 64, Progress("test", stream=io.StringIO()), state)


def test_only_the_judge_of_this_name_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    monkeypatch.chdir(tmp_path)
    ctx = context(tmp_path)
    name = ctx.experiment.judge.name
    manager = ServiceManager(tmp_path)
    argv = [sys.executable, "-c", SERVER, "{port}"]
    try:
        mine, other = (manager.start(ServiceSpec(f"judge-{each}", argv, health="/")) for each in (name, "another"))
        record_endpoint(name, tmp_path, Endpoint(mine.url, "m", str(mine.process)))
        record_endpoint("another", tmp_path, Endpoint(other.url, "m", str(other.process)))
        assert STEP.run(ctx)["ended"] is True
        assert not mine.process.alive()
        assert other.process.alive()
        assert read_endpoint(name, tmp_path) is None
        assert read_endpoint("another", tmp_path) is not None
        assert STEP.run(ctx)["ended"] is False
        assert other.process.alive()
    finally:
        manager.end_all()


def test_nothing_of_ours_is_nothing_to_end(tmp_path: Path) -> None:
    external = ["judge.serving=external", "judge.endpoint=http://127.0.0.1:9", "judge.source=null"]
    assert STEP.run(context(tmp_path, *external))["ended"] is False
