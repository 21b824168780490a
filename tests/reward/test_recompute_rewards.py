"""The independent script: on a table by hand, and against what the reward manager logs and publishes."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_tables import write_prompts
from recompute_rewards import main, recompute
from scripted_judge import ScriptedJudge

from components.core.contracts import ROLLOUTS, VERDICTS, write_table
from components.judge.memory import Ledger
from components.reward.rollout_log import RolloutLog

SCRIPT = Path(__file__).with_name("recompute_rewards.py")
LINES = [
    {"text": "a", "points": 3.0, "verifier": "llm", "tags": []},
    {"text": "b", "points": 1.0, "verifier": "rule", "tags": [], "rule": {"name": "python", "function": "x"}},
    {"text": "c", "points": 1.0, "verifier": "rule", "tags": [], "rule": {"name": "python", "function": "y"}},
]


def rollout(sample_id: str, reward: float | None) -> dict[str, object]:
    return {
        "step": 1,
        "row_id": "r",
        "sample_id": sample_id,
        "sample_index": 0,
        "question": "Write.",
        "response": "A cat.",
        "response_tokens": 3,
        "finished": True,
        "status": "abstained" if reward is None else "scored",
        "reward": reward,
        "reason": None,
        "known_weight": 1.0,
        "parts": "{}",
        "attempt": 1,
    }


def verdict(sample_id: str, index: int, probability: float | None, judge: str = "j") -> dict[str, object]:
    status = "unknown" if probability is None else "met" if probability > 0.5 else "unmet"
    return {
        "sample_id": sample_id,
        "row_id": "r",
        "criterion": "c",
        "criterion_index": index,
        "status": status,
        "probability": probability,
        "log_ratio": None,
        "reason": None if probability is not None else "timeout",
        "judge": judge,
        "protocol": "p",
        "attempts": 1,
        "seconds": 0.1,
        "prompt_tokens": 1,
        "response_chars": 6,
        "raw_id": None,
        "time": 1.0,
        "mass": None,
        "explanation": None,
    }


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def call(*arguments: object) -> tuple[int, str]:
        status = main([str(each) for each in arguments])
        return status, capsys.readouterr().out

    return call


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    # s1: judge 0.6, rules 1 and 0.   s2: judge first timed out, then 0.2; rules 1 and 1.
    # s3: the judge unknown.          s4: both rules unknown.
    verdicts = [
        verdict("s1", 0, 0.6),
        verdict("s1", 1, 1.0, "rule"),
        verdict("s1", 2, 0.0, "rule"),
        verdict("s2", 0, None),
        verdict("s2", 1, 1.0, "rule"),
        verdict("s2", 2, 1.0, "rule"),
        verdict("s2", 0, 0.2),
        verdict("s3", 0, None),
        verdict("s3", 1, 1.0, "rule"),
        verdict("s3", 2, 1.0, "rule"),
        verdict("s4", 0, 1.0),
        verdict("s4", 1, None, "rule"),
        verdict("s4", 2, None, "rule"),
    ]
    write_table(tmp_path / "verdicts.parquet", verdicts, VERDICTS)
    write_prompts(tmp_path / "train.parquet", {"r": LINES})
    return tmp_path


@pytest.mark.parametrize(
    ("options", "rewards"),
    [
        # (3 x 0.6 + 1) / 5, (3 x 0.2 + 2) / 5; of s4 only 3 of 5 points are known.
        (["--value", "probability"], [0.56, 0.52, None, None]),
        # (3 + 1) / 5, 2 / 5; with a threshold of 0.6 s4 has 3 of 3.
        (["--min-known-weight", "0.6"], [0.8, 0.4, None, 1.0]),
        (["--combine", "verif", "--value", "probability"], [0.3, 0.2, None, None]),
        (["--combine", "verif"], [0.5, 0.0, None, None]),
    ],
)
def test_a_table_by_hand(run: Run, table: Path, options: list[str], rewards: list[float | None]) -> None:
    rows = [rollout(f"s{number}", reward) for number, reward in enumerate(rewards, 1)]
    write_table(table / "rollouts.parquet", rows, ROLLOUTS)
    status, told = run(table, table / "train.parquet", *options)
    scored = sum(reward is not None for reward in rewards)
    assert (status, told) == (0, f"4 rollouts, {scored} scored, {4 - scored} abstained, 0 differ\n")


@pytest.mark.parametrize("wrong", [0.0, 0.5600001, None])
def test_a_wrong_reward_is_named(run: Run, table: Path, wrong: float | None) -> None:
    rewards = [wrong, 0.52, 0.0, None]
    rows = [rollout(f"s{number}", reward) for number, reward in enumerate(rewards, 1)]
    write_table(table / "rollouts.parquet", rows, ROLLOUTS)
    status, told = run(table, table / "train.parquet", "--value", "probability")
    assert status == 1
    shown = "none" if wrong is None else f"{wrong:.9g}"
    assert f"s1: published {shown}, worked out 0.56" in told
    # A judge that failed is no zero.
    assert "s3: published 0, worked out none" in told
    assert "4 rollouts, 2 scored, 2 abstained, 2 differ" in told


def test_unclipped(run: Run, tmp_path: Path) -> None:
    lines = [LINES[0], {"text": "d", "points": -4.0, "verifier": "llm", "tags": []}]
    write_prompts(tmp_path / "train.parquet", {"r": lines})
    write_table(tmp_path / "verdicts.parquet", [verdict("s1", 0, 0.0), verdict("s1", 1, 1.0)], VERDICTS)
    for reward, options in ((0.0, []), (-4 / 3, ["--unclipped"])):
        write_table(tmp_path / "rollouts.parquet", [rollout("s1", reward)], ROLLOUTS)
        assert run(tmp_path, tmp_path / "train.parquet", *options)[0] == 0


def test_several_judges_need_a_name(run: Run, tmp_path: Path) -> None:
    write_prompts(tmp_path / "train.parquet", {"r": LINES[:1]})
    rows = [verdict("s1", 0, 1.0), verdict("s1", 0, 0.0, "k"), verdict("s1", 0, 0.5, "panel")]
    write_table(tmp_path / "verdicts.parquet", rows, VERDICTS)
    write_table(tmp_path / "rollouts.parquet", [rollout("s1", 0.5)], ROLLOUTS)
    with pytest.raises(SystemExit, match="--judge"):
        run(tmp_path, tmp_path / "train.parquet")
    assert run(tmp_path, tmp_path / "train.parquet", "--judge", "panel", "--value", "probability")[0] == 0


@pytest.mark.parametrize(("reward", "combine"), [("rubric", "rubric"), ("verif-rules-and-constraints", "verif")])
async def test_what_the_reward_manager_logs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reward: str, combine: str
) -> None:
    pytest.importorskip("verl")
    from test_manager_judges import judge, manager
    from test_manager_rewards import CAT, LONG, SHORT, scored

    def answer(call: int, verdicts: dict[str, str]) -> str:
        # Every fifth reply cannot be read, nor can the one to the question that is put again.
        if call % 5 in (3, 4):
            return "Hm."
        return f"[[{call % 2}]]" if combine == "verif" else json.dumps(verdicts)

    lines = [CAT | {"verifier": "llm"}, SHORT, LONG]
    with ScriptedJudge(reply=answer).serve() as url:
        made = manager(tmp_path, monkeypatch, f"reward={reward}", f"judge={judge('cats', url)}")
        found = await scored(made, lines, [1], [1, 2, 3], [2], [2, 2, 2], [1, 1], [], [3], [1, 2])
    assert None in found
    assert len(set(found)) > 2
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    write_table(tmp_path / "rollouts.parquet", log.rows(), ROLLOUTS)
    log.close()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.export_parquet(tmp_path / "verdicts.parquet")
    write_prompts(tmp_path / "train.parquet", {"g": lines})
    assert [reward for _, reward, _ in recompute(tmp_path, tmp_path / "train.parquet", combine=combine)] == found
    assert run(tmp_path, tmp_path / "train.parquet", "--combine", combine)[0] == 0
    # The other formula is another reward.
    other = "rubric" if combine == "verif" else "verif"
    assert run(tmp_path, tmp_path / "train.parquet", "--combine", other)[0] == 1


def test_it_uses_nothing_of_the_project_and_runs_anywhere(table: Path) -> None:
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(SCRIPT.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    assert names <= {"argparse", "json", "math", "sys", "pathlib", "pyarrow"}
    write_table(table / "rollouts.parquet", [rollout("s1", 0.5)], ROLLOUTS)
    command = [sys.executable, str(SCRIPT), str(table), str(table / "train.parquet"), "--combine", "verif"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=table)
    assert (done.returncode, done.stdout) == (0, "1 rollouts, 1 scored, 0 abstained, 0 differ\n")
