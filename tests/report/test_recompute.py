"""The report's numbers computed again by the independent script, and that the script would notice a wrong one."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.contracts import GENERATIONS, ROLLOUTS, SCORES, read_table, write_table

SCRIPT = Path(__file__).with_name("recompute.py")


@pytest.fixture
def copy(written, tmp_path):
    """The run and its report, free to be tampered with."""
    folders = {name: tmp_path / name for name in ("training", "scores", "generations", "report", "data")}
    for name, folder in folders.items():
        shutil.copytree(written.out if name == "report" else written.inputs[name], folder)
    return folders


def wrong(recompute, folders):
    return [check.name for check in recompute.recompute(**folders) if not check.agrees]


def test_it_shares_no_code_with_the_report():
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert names - set(sys.stdlib_module_names) == {"numpy", "pyarrow"}


def test_every_number_agrees(recompute, copy):
    checks = recompute.recompute(**copy)
    assert [str(check) for check in checks if not check.agrees] == []
    assert len(checks) > 200


def test_it_runs_from_the_command_line(copy):
    arguments = [f"--{name}={folder}" for name, folder in copy.items()]
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numbers agree" in done.stdout


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        (("heldout", "measures", "gold", "gain"), 1.01),
        (("heldout", "measures", "gold", "low"), 0.5),
        (("heldout", "measures", "judge_reward", "n"), 2),
        (("heldout", "measures", "echo", "sign_p"), 10),
        (("heldout", "judge_gain_parts", "echo", "gain"), 1.1),
        (("training", "proxy_gold_within_groups", "r"), 0.9),
        (("training", "masked_groups"), 2),
        (("training", "trends", "echo", "change"), 1.1),
    ],
)
def test_a_wrong_number_in_the_summary_is_noticed(recompute, copy, path, factor):
    file = copy["report"] / "summary.json"
    summary = json.loads(file.read_text(encoding="utf-8"))
    part = summary
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] *= factor
    file.write_text(json.dumps(summary), encoding="utf-8")
    assert wrong(recompute, copy)


def tamper(path, schema, edit):
    rows = read_table(path, schema).to_pylist()
    edit(rows)
    write_table(path, rows, schema)


def test_a_reward_that_the_ledger_does_not_bear_out_is_noticed(recompute, copy):
    tamper(copy["training"] / "rollouts.parquet", ROLLOUTS, lambda rows: rows[5].update(reward=0.99))
    assert "rollout rewards, largest difference to the ledger" in wrong(recompute, copy)


def test_a_failure_made_into_a_zero_is_noticed(recompute, copy):
    def zero(rows):
        next(row for row in rows if row["status"] == "abstained").update(status="scored", judge_reward=0.0)

    tamper(copy["scores"] / "scores.parquet", SCORES, zero)
    assert "held-out samples scored on one side and abstained on the other" in wrong(recompute, copy)


def test_gold_that_the_texts_do_not_bear_out_is_noticed(recompute, copy):
    def empty(rows):
        for row in rows:
            if row["model"] == "trained":
                row["responses"] = ["The harbour was quiet in the early morning light."]

    tamper(copy["generations"] / "generations.parquet", GENERATIONS, empty)
    assert "gold gain by the short rules" in wrong(recompute, copy)
