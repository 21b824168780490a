"""A real experiment, a state folder and a store for the tests of the step runtime."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.core.spec import Experiment, load_experiment

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    return load_experiment("tiny", ["seed=1"], ROOT / "configs")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("GAVEL_STATE", str(state))
    monkeypatch.setenv("GAVEL_RUN_ID", "run-1")
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    return state


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return (tmp_path / "store").as_uri()


@pytest.fixture
def launch(experiment: Experiment, state: Path, store_url: str) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts a sample step in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(step: str, **environment: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("step_samples.py")), step],
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "EXPERIMENT": experiment.to_json(),
                "STORE": store_url,
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
