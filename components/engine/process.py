"""Runs the trainer as a child process and watches it: progress, heartbeat, stalls, the judge's end."""

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from components.core.errors import JudgeError, StepError
from components.core.progress import Progress
from components.core.services.process import ProcessId, descendants, guarded, kill_all
from components.reward.abstain_guard import PAUSED
from components.reward.canaries.counting import told_in_step
from components.reward.rollout_log import RolloutLog

_POLL_SECONDS = 1.0
_END_SECONDS = 20.0
"""How long the guard may take to end the trainer before it is killed with it."""

_TELL_SECONDS = 60.0
"""Least time between two words on a step that is under way."""
STARTING = "starting"
"""State of a trainer that has not begun its first step."""
SAMPLING = "responses are sampled"
"""State of a step of which no response is judged yet."""

_ERROR_LINE = re.compile(r"\b\w*(Error|Exception)\b.*")


_SLOW_START = "The current node timed out during startup"
"""What Ray says when its own processes take more than 30 s to start, which no setting changes: a busy machine."""


class StalledError(Exception):
    """The trainer showed no sign of life for longer than it may, or Ray gave up waiting for itself."""


class SlowStartError(StalledError):
    """Ray gave up waiting for itself, before anything was trained."""


class HungError(StepError):
    """The trainer hung so often that this step does not start it again."""


class TrainerProcess:
    """One start of the trainer."""

    def __init__(self, overrides: list[str], environment: Mapping[str, str], *, work: Path, metrics: Path) -> None:
        """Start it; its output goes to ``work/trainer.log``.

        Args:
            overrides: hydra overrides for verl.
            environment: all of its environment.
            work: the training step's durable folder.
            metrics: the JSON lines that verl writes, one a step.
        """
        self._work, self._metrics = work, metrics
        self._log = work / "trainer.log"
        self._fatal = work / "fatal.json"
        self._fatal.unlink(missing_ok=True)
        (work / PAUSED).unlink(missing_ok=True)
        metrics.unlink(missing_ok=True)
        self._started = self._told_at = time.time()
        self._told = ""
        with self._log.open("ab") as log:
            self._log_start = log.tell()
            self._child = subprocess.Popen(
                # Ray's actors can outlive a killed driver. The guard ends them, also when this step is killed.
                guarded([sys.executable, "-m", "components.engine.launch", *overrides], ProcessId.current(), grace=1.0),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=dict(environment),
                cwd=work,
                start_new_session=True,
            )

    def watch(
        self, progress: Progress, *, samples_per_step: int, resumed_from: int, stall: float, deadline: float
    ) -> None:
        """Wait for the end of the training.

        Args:
            progress: advanced by one a finished step.
            samples_per_step: responses that a step judges.
            resumed_from: step of the checkpoint that this start goes on from.
            stall: seconds without a sample, a step or a line of output after which the trainer counts as hung.
            deadline: Unix time at which training must be over.

        Raises:
            StalledError: it hung, and was ended.
            SlowStartError: Ray did not start in time.
            JudgeError: the judge stopped judging, and the trainer was ended.
            StepError: it failed, or the deadline passed.
        """
        log = RolloutLog(self._work / "rollouts.sqlite")
        done, paused = 0, False
        try:
            while self._child.poll() is None:
                time.sleep(_POLL_SECONDS)
                rows = self._metric_lines()
                step, count, newest = log.progress()
                for place, row in enumerate(rows[done:], done):
                    progress.advance(1, note=_note(row), typical=place > 0)
                    self._warn(progress, row)
                    self._told_at = time.time()
                done = len(rows)
                current = resumed_from + done + 1
                state = self._state(count if step == current else 0, samples_per_step, starting=not (done or count))
                self._tell(progress, current, state)
                reason = self._paused()
                if (reason is not None) != paused:
                    paused = reason is not None
                    progress.phase(reason or "the judge judges again; training goes on")
                self._beat(current, "paused" if paused else state, newest)
                self._check(newest, stall, deadline)
            if self._child.returncode != 0:
                self._raise_failure()
            rows = self._metric_lines()
            for row in rows[done:]:
                progress.advance(1, note=_note(row))
                self._warn(progress, row)
        finally:
            log.close()
            self.end()

    def _warn(self, progress: Progress, row: Mapping[str, object]) -> None:
        """Tell a step's alarm in a line of its own: counts may be printed seldom."""
        data = row["data"]
        if isinstance(data, dict) and (told := told_in_step(data)):
            progress.phase(f"{told} at step {row['step']}; see the section on canaries in the run's report")

    def _state(self, count: int, whole: int, *, starting: bool) -> str:
        """What the step under way is at; verl makes the file of its metrics when it begins the first one.

        Args:
            count: responses of this step that are judged.
            whole: that it needs.
            starting: nothing has been sampled yet.
        """
        if count >= whole:
            return "training"
        if count:
            return f"{count} of {whole} responses judged"
        return STARTING if starting and not self._metrics.exists() else SAMPLING

    def _tell(self, progress: Progress, step: int, state: str) -> None:
        """Say now and then what a long step is at; steps that take seconds tell of themselves when they end."""
        now = time.time()
        first = state == SAMPLING and not self._told
        if first or (state not in (STARTING, self._told) and now - self._told_at >= _TELL_SECONDS):
            word = "all responses judged; the policy is updated" if state == "training" else state
            progress.phase(f"step {step}: {word}")
            self._told, self._told_at = state, now

    def end(self) -> None:
        """End the trainer and everything it started, if it still runs."""
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                guard = ProcessId.of(self._child.pid)
                kill_all([guard, *descendants(guard)])
                self._child.wait()

    def _check(self, newest_sample: float, stall: float, deadline: float) -> None:
        if self._fatal.exists():
            self.end()
            raise JudgeError(**json.loads(self._fatal.read_text()))
        now = time.time()
        if now > deadline:
            self.end()
            raise StepError(
                "training is not over at its deadline",
                where="training.deadline_minutes",
                remedy="raise it and run again: training resumes from its last checkpoint",
            )
        alive = max(self._started, newest_sample, self._log.stat().st_mtime, _mtime(self._metrics))
        if now - alive > stall:
            self.end()
            raise StalledError(f"no sign of life for {now - alive:.0f} s")

    def _beat(self, step: int, state: str, newest_sample: float) -> None:
        beat = {"time": time.time(), "pid": self._child.pid, "step": step, "state": state, "sample": newest_sample}
        partial = self._work / "heartbeat.partial"
        partial.write_text(json.dumps(beat))
        partial.replace(self._work / "heartbeat.json")

    def _paused(self) -> str | None:
        """Why the trainer waits for the judge; None when it does not."""
        try:
            return (self._work / PAUSED).read_text()
        except FileNotFoundError:
            return None

    def _metric_lines(self) -> list[dict[str, object]]:
        return read_metrics(self._metrics)

    def _raise_failure(self) -> None:
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read().decode(errors="replace").splitlines()
        if any(_SLOW_START in line for line in lines):
            raise SlowStartError("Ray did not start within its 30 s; the machine is busy")
        telling = [line for line in lines if _ERROR_LINE.search(line)][-3:] or lines[-5:]
        raise StepError(
            "the trainer failed: " + " | ".join(line.strip()[:300] for line in telling),
            where=f"{self._log} (exit code {self._child.returncode})",
            remedy="mend the cause and run again: training resumes from its last checkpoint",
        )


def read_metrics(path: Path) -> list[dict[str, object]]:
    """verl's metric lines ``{step, data}``; a line that is still being written is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            rows.append(json.loads(line))
    return rows


def _note(row: dict[str, object]) -> str:
    # Of a control arm no judge gave it.
    data = row["data"]
    reward = data.get("critic/score/mean") if isinstance(data, dict) else None
    return f"reward {reward:.3f}" if isinstance(reward, float) else ""


def _mtime(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0
