"""The rollout log: what a resumed run keeps of the steps that it repeated."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from components.core.contracts import ROLLOUTS, read_table, write_table
from components.reward.rollout_log import RolloutLog


def row(step: int, attempt: int, index: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "step": step,
        "row_id": "r",
        "sample_id": f"{step}-{attempt}-r-{index}",
        "sample_index": index,
        "question": "q",
        "response": "x",
        "response_tokens": 1,
        "finished": True,
        "status": "scored",
        "reward": 0.5,
        "reason": None,
        "known_weight": 1.0,
        "parts": {"clipped": 0.5},
        "attempt": attempt,
    } | changes


def test_a_resumed_run_replaces_the_steps_after_its_checkpoint(tmp_path: Path):
    log = RolloutLog(tmp_path / "l.sqlite")
    assert log.start_attempt(0) == 1
    for step in (1, 2, 3):
        log.append(row(step, 1))
    assert log.start_attempt(2) == 2
    log.append(row(3, 2))
    log.append(row(4, 2))
    assert [(r["step"], r["attempt"]) for r in log.rows()] == [(1, 1), (2, 1), (3, 2), (4, 2)]


def test_a_sample_of_a_lost_attempt_does_not_survive_beside_its_replacement(tmp_path: Path):
    log = RolloutLog(tmp_path / "l.sqlite")
    log.start_attempt(0)
    log.append(row(1, 1, index=0))
    log.append(row(1, 1, index=1))
    log.start_attempt(0)
    log.append(row(1, 2, index=0))
    assert [r["sample_id"] for r in log.rows()] == ["1-2-r-0"]


def test_rows_fit_the_contract(tmp_path: Path):
    log = RolloutLog(tmp_path / "l.sqlite")
    log.start_attempt(0)
    log.append(row(1, 1))
    log.append(row(1, 1, index=1, status="abstained", reward=None, reason="timeout"))
    write_table(tmp_path / "r.parquet", log.rows(), ROLLOUTS)
    table = read_table(tmp_path / "r.parquet", ROLLOUTS)
    assert table.column("reward").to_pylist() == [0.5, None]


def test_committed_rows_survive_kill_nine(tmp_path: Path):
    code = (
        "import os, signal, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from test_rollout_log import row; from components.reward.rollout_log import RolloutLog;"
        "log = RolloutLog(Path(sys.argv[1])); log.start_attempt(0);"
        "[log.append(row(1, 1, index=i)) for i in range(20)]; os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "l.sqlite"), str(Path(__file__).parent)], check=False
    )
    assert done.returncode == -9
    assert len(RolloutLog(tmp_path / "l.sqlite").rows()) == 20


def test_progress_counts_the_newest_step(tmp_path: Path):
    log = RolloutLog(tmp_path / "l.sqlite")
    assert log.progress() == (0, 0, 0.0)
    log.start_attempt(0)
    for index in range(3):
        log.append(row(7, 1, index=index))
    assert log.progress()[:2] == (7, 3)
    assert sqlite3.connect(tmp_path / "l.sqlite").execute("PRAGMA journal_mode").fetchone() == ("wal",)
