"""Work folders and published trainings, written by what writes the real ones."""

import dataclasses
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.contracts import METRICS, PROMPTS, ROLLOUTS, WORKFLOWS, write_table
from components.core.manifest import InputRef, Manifest, scan_folder
from components.core.services.process import ProcessId
from components.core.spec import Experiment, load_experiment
from components.engine.overrides import TrainingPaths, render_command, verl_overrides
from components.reward.rollout_log import RolloutLog
from components.reward.verl_manager_settings import ManagerSettings
from components.workflow.buffer.database import FILE as BUFFER
from components.workflow.buffer.database import Database
from components.workflow.buffer.entry import Entry
from components.workflow.log import WorkflowLog

IDENTITY = "ab" * 32
ROWS = {"m1": ("gsm8k", "math"), "m2": ("gsm8k", "math"), "q1": ("squad2", "qa"), "c1": ("mbpp", "code")}
"""Training rows: id -> set, domain."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """One response of a workflow run."""

    step: int
    row_id: str
    index: int
    status: str
    reason: str | None = None
    reward: float | None = None
    right: bool | None = None
    operators: Sequence[str] = ()
    tokens: int = 0
    seconds: float = 0.0
    money: float | None = None
    parts: dict[str, float] = dataclasses.field(default_factory=dict)
    source: str | None = "5" * 8
    finished: bool = True

    @property
    def sample_id(self) -> str:
        return f"1-{self.step}-{self.row_id}-{self.index}"


def right(step: int, row_id: str, index: int, **more: Any) -> Answer:
    parts = {"correctness": 0.65, "efficiency": 0.1, "simplicity": 0.1, "format": 0.05, "repetition": 0.0}
    return Answer(step, row_id, index, "answered", None, sum(parts.values()), True, parts=parts, **more)


def wrong(step: int, row_id: str, index: int, **more: Any) -> Answer:
    parts = {"correctness": -0.65, "efficiency": 0.0, "simplicity": 0.0, "format": 0.05, "repetition": 0.0}
    return Answer(step, row_id, index, "answered", None, sum(parts.values()), False, parts=parts, **more)


def invalid(step: int, row_id: str, index: int, reason: str = "no_code", **more: Any) -> Answer:
    return Answer(step, row_id, index, "invalid", f"invalid:{reason}", -1.0, source=None, **more)


def failed(step: int, row_id: str, index: int, reason: str = "exception", **more: Any) -> Answer:
    return Answer(step, row_id, index, "failed", f"failed:{reason}", -1.0, **more)


def abstained(step: int, row_id: str, index: int, reason: str = "judge_down", **more: Any) -> Answer:
    return Answer(step, row_id, index, "abstained", reason, **more)


ANSWERS = (
    right(1, "m1", 0, operators=("Custom",), tokens=100, seconds=1.0),
    invalid(1, "m1", 1),
    wrong(1, "q1", 0, operators=("Custom", "ScEnsemble"), tokens=300, seconds=2.0),
    failed(1, "q1", 1, tokens=200, seconds=3.0, operators=("Custom",)),
    right(2, "m2", 0, operators=("Programmer",), tokens=400, seconds=4.0),
    right(2, "m2", 1, operators=("Custom",), tokens=200, seconds=1.0),
    abstained(2, "c1", 0, operators=("Custom",), tokens=50, seconds=0.5),
    invalid(2, "c1", 1, "syntax", finished=False),
)
"""Eight responses: two steps, three domains.

By hand: right 3 of 7 (one abstained); math 3 of 4, qa 0 of 2, code 0 of 1. Valid 6 of 8; code 1 of 2. Executed 6, with
7 calls, 1,250 tokens and 11.5 s.
"""


def experiment(*overrides: str) -> Experiment:
    return load_experiment("tiny_workflow", overrides)


def rollout(answer: Answer, attempt: int = 1) -> dict[str, Any]:
    """A row of the contract ROLLOUTS."""
    return {
        "step": answer.step,
        "row_id": answer.row_id,
        "sample_id": answer.sample_id,
        "sample_index": answer.index,
        "question": "What is 1 + 1?",
        "response": "a long text",
        "response_tokens": 10,
        "finished": answer.finished,
        "status": "abstained" if answer.reward is None else "scored",
        "reward": answer.reward,
        "reason": answer.reason,
        "known_weight": 0.0 if answer.reward is None else 1.0,
        "parts": {**answer.parts, "valid": float(answer.source is not None)},
        "attempt": attempt,
    }


def workflow(answer: Answer, model: str = "rollout") -> dict[str, Any]:
    """A row of the contract WORKFLOWS."""
    dataset, domain = ROWS[answer.row_id]
    return {
        "model": model,
        "step": answer.step,
        "sample_id": answer.sample_id,
        "row_id": answer.row_id,
        "sample_index": answer.index,
        "domain": domain,
        "dataset": dataset,
        "source": answer.source,
        "form": None if answer.source is None else "exact",
        "status": answer.status,
        "reason": answer.reason,
        "detail": "",
        "answer": "2" if answer.status == "answered" else None,
        "gold": None if answer.right is None else float(answer.right),
        "score": None if answer.right is None else float(answer.right),
        "right": answer.right,
        "reward": answer.reward,
        "parts": json.dumps(answer.parts),
        "calls": len(answer.operators),
        "replies": len(answer.operators),
        "prompt_tokens": answer.tokens,
        "completion_tokens": 0,
        "tokens": answer.tokens,
        "seconds": answer.seconds,
        "money": answer.money,
        "wall_seconds": answer.seconds,
        "executor": "tiny-chat",
        "trace": json.dumps([{"operator": name} for name in answer.operators]),
    }


def prompts(path: Path) -> None:
    """The table of training prompts."""
    rows = [
        {
            "prompt": [{"role": "user", "content": "?"}],
            "data_source": dataset,
            "ability": domain,
            "reward_model": {"style": "rule", "ground_truth": "null"},
            "extra_info": {
                "id": name, "index": place, "split": "train", "question": "?", "rubric": "[]", "template": "t",
            },
        }
        for place, (name, (dataset, domain)) in enumerate(ROWS.items())
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, rows, PROMPTS)


class Work:
    """A work folder as train-grpo leaves it."""

    def __init__(self, state: Path, of: Experiment, identity: str = IDENTITY) -> None:
        self.state, self.experiment = state, of
        self.folder = state / "work" / of.name / "train-grpo" / identity
        self.folder.mkdir(parents=True)
        self.data = self.folder.with_name(f"{identity}.in") / "data" / "train.parquet"
        prompts(self.data)
        self.log = RolloutLog(self.folder / "rollouts.sqlite")
        self.workflows: WorkflowLog | None = None

    def begin(self, resumed_from: int = 0) -> int:
        """A start of the trainer."""
        attempt = self.log.start_attempt(resumed_from)
        settings = ManagerSettings(self.experiment.to_json(), str(self.state), str(self.folder), attempt)
        settings.write(self.folder / "reward.json")
        paths = TrainingPaths(self.folder / "model", self.data, self.folder / "checkpoints")
        (self.folder / "command.json").write_text(render_command(verl_overrides(self.experiment, paths)))
        (self.folder / f"metrics-{attempt}.jsonl").touch()
        return attempt

    def answer(self, *answers: Answer, attempt: int = 1, workflows: bool = True) -> None:
        """Responses, their workflows first."""
        if workflows and self.workflows is None:
            self.workflows = WorkflowLog(self.folder / "workflows.sqlite")
        for answer in answers:
            if workflows and self.workflows is not None:
                self.workflows.append(workflow(answer))
            self.log.append(rollout(answer, attempt))

    def metrics(self, step: int, attempt: int = 1, **values: float) -> None:
        """A line of verl's file logger."""
        data = {"timing_s/step": 10.0, "timing_s/gen": 4.0, "critic/score/mean": 0.1} | values
        with (self.folder / f"metrics-{attempt}.jsonl").open("a") as file:
            file.write(json.dumps({"step": step, "data": data}) + "\n")

    def beat(self, step: int, state: str = "training", age: float = 0.0) -> None:
        """The watcher's heartbeat."""
        beat = {"time": time.time() - age, "pid": os.getpid(), "step": step, "state": state, "sample": 0.0}
        (self.folder / "heartbeat.json").write_text(json.dumps(beat))

    def signed_by(self, process: str = "") -> None:
        """The lock's signature; of this process, which lives."""
        record = {"process": process or str(ProcessId.current()), "pid": 1, "since": "", "command": ""}
        self.folder.with_name(f"{self.folder.name}.lock").write_text(json.dumps(record))

    def buffer(self, *workflows: tuple[str, str]) -> None:
        """Entries (domain, source) of the experience buffer."""
        with Database(self.folder / BUFFER) as database:
            for place, (domain, source) in enumerate(workflows):
                database.add(entry(domain, source, place))

    def publish(self, uri_folder: Path) -> str:
        """What the step publishes, into ``<folder>/<identity>/<content>``; its URI."""
        out = uri_folder / self.experiment.name / "train-grpo" / self.folder.name / "c0ffee"
        out.mkdir(parents=True)
        write_table(out / "rollouts.parquet", self.log.rows(), ROLLOUTS)
        if self.workflows is not None:
            write_table(out / "workflows.parquet", self.workflows.rows(), WORKFLOWS)
        write_table(out / "metrics.parquet", [{"step": 1, "name": "timing_s/step", "value": 10.0}], METRICS)
        data = uri_folder / self.experiment.name / "prepare-data" / "1" / "2"
        prompts(data / "train.parquet")
        seal(data, Manifest(files=scan_folder(data), step="prepare-data"))
        manifest = Manifest(
            files=scan_folder(out),
            step="train-grpo",
            experiment=self.experiment.name,
            depends={"training": self.experiment.training_identity()},
            inputs={"data": InputRef(uri=data.as_uri(), sha256="0" * 64)},
            started="2026-11-01T10:00:00+00:00",
        )
        seal(out, manifest)
        record = {"identity": self.folder.name, "content": out.name, "sha256": manifest.sha256}
        (out.parent / "result.json").write_text(json.dumps(record))
        return out.as_uri()


def seal(folder: Path, manifest: Manifest) -> None:
    (folder / "manifest.json").write_bytes(manifest.to_bytes())


def entry(domain: str, source: str, place: int) -> Entry:
    return Entry(
        problem_id=f"p{place}",
        problem_hash=f"h{place}",
        domain=domain,
        dataset="gsm8k",
        problem="What?",
        workflow=source,
        workflow_hash=source,
        reward=0.9,
        parts={},
        judge="gold",
        executor="tiny-chat",
        step=1,
        time=1.0,
    )
