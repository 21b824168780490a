"""Starts the tiny experiment as a user does, and reads what became of its steps."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from components.core.step import runlog

ROOT = Path(__file__).resolve().parents[2]
DURABLE = ("prepare-data", "train-grpo", "merge-checkpoint", "generate", "score", "report")
ALWAYS = ("deploy-judge", "probe-judge", "teardown-judge")
SMALL = ("training.steps=2",)


class Runner:
    """Runs an experiment in one state folder.

    Args:
        state: the folder, made when needed.
        experiment: name of a shipped experiment.
    """

    def __init__(self, state: Path, experiment: str = "tiny") -> None:
        self.state = state
        self.experiment = experiment
        self.environment = {**os.environ, "GAVEL_STATE": str(state), "GAVEL_CACHE": str(state.parent / "cache")}

    def start(self, *overrides: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pipelines", "run", self.experiment, *SMALL, *overrides]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *overrides: str, patience: float = 900) -> tuple[dict[str, str], str]:
        """Statuses by step, and the output, of a run that must succeed within ``patience`` seconds."""
        child = self.start(*overrides)
        try:
            output, _ = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGTERM)
            raise
        assert child.returncode == 0, output[-4000:]
        return self.statuses(), output

    def statuses(self) -> dict[str, str]:
        return {line.step: line.status for line in self.lines()}

    def lines(self) -> list[runlog.StepLine]:
        """The newest run's log."""
        newest = max(self.runs(), key=lambda path: path.stat().st_mtime)
        return runlog.read(newest / runlog.LOG_NAME)

    def runs(self) -> set[Path]:
        """Folders of the runs that came as far as ending a step."""
        return set((self.state / "runs").iterdir()) if (self.state / "runs").is_dir() else set()

    def published(self, step: str) -> Path:
        uri = next(line.uri for line in self.lines() if line.step == step)
        return Path(uri.removeprefix("file://"))

    def left_over(self, seconds: float = 30) -> list[str]:
        """What still runs for this state folder after ``seconds`` to end in."""
        deadline = time.time() + seconds
        while (found := self.processes()) and time.time() < deadline:
            time.sleep(0.5)
        return found

    def processes(self) -> list[str]:
        """Command lines of what still runs for this state folder."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("GAVEL_STATE") == str(self.state) and process.status() != "zombie":
                    found.append(" ".join(process.cmdline())[:200])
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found
