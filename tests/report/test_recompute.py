"""The report's numbers computed again by the independent script, and that the script would notice a wrong one."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.contracts import GENERATIONS, ROLLOUTS, SCORES, VERDICTS, read_table, write_table
from components.gold.check import check_gold
from components.gold.checks import GoldChecks

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
    scripts = sorted(SCRIPT.parent.glob("recompute*.py"))
    names = {
        name.split(".")[0]
        for script in scripts
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert len(scripts) == 3
    assert names - set(sys.stdlib_module_names) - {script.stem for script in scripts} == {"numpy", "pyarrow"}


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
        (("judge_calls", "training", "attempts"), 2),
        (("judge_calls", "evaluation", "seconds"), 1.1),
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


def test_the_made_up_run_is_what_the_full_gold_checks_say(copy):
    checks = GoldChecks(word_list="animals", min_words=4, max_words=40)
    texts = {
        (row["model"], row["row_id"]): (row["question"], row["responses"][0])
        for row in read_table(copy["generations"] / "generations.parquet", GENERATIONS).to_pylist()
    }
    for row in read_table(copy["scores"] / "scores.parquet", SCORES).to_pylist():
        question, response = texts[row["model"], row["row_id"]]
        found = check_gold(checks, ["mentions an animal"], response, question)
        stored = (row["gold"], row["keyword"], row["echo"], row["length_ok"], row["words"])
        assert stored == (found.gold, found.keyword, found.echo, found.length_ok, found.words), response


@pytest.mark.parametrize(
    ("first", "penalty", "reward"),
    [(0.75, 0.1, 0.7), (0.1, 0.9, 0.0), (None, 0.1, None), (0.75, None, None)],
)
def test_rewards_from_the_ledger_by_hand(recompute, copy, first, penalty, reward):
    def edit(rows):
        for row, probability in zip(rows, (first, penalty), strict=False):
            known = probability is not None
            row.update(
                probability=probability, status="met" if known else "unknown", reason=None if known else "timeout"
            )

    path = copy["scores"] / "verdicts.parquet"
    tamper(path, VERDICTS, edit)
    run = recompute.Run(copy["training"], copy["scores"], copy["generations"], copy["report"], None, None)
    sample = read_table(path, VERDICTS).to_pylist()[0]["sample_id"]
    assert run.heldout_rewards[sample] == (None if reward is None else pytest.approx(reward))


@pytest.mark.parametrize(
    ("judge", "probabilities", "reward"),
    [
        # Both lines by rules: one holds, one does not. One rule: it holds, times the judge's 0.4. None: the mean.
        (("rule", "rule"), (1.0, 0.0), 0.5),
        (("rule", "x"), (1.0, 0.4), 0.4),
        (("rule", "x"), (0.0, 0.4), 0.0),
        (("rule", "x"), (None, 0.4), None),
        (("rule", "x"), (1.0, None), None),
        (("x", "x"), (0.2, 0.6), 0.4),
    ],
)
def test_the_product_of_verif_by_hand(recompute, copy, judge, probabilities, reward):
    run = recompute.Run(copy["training"], copy["scores"], copy["generations"], copy["report"], None, None)
    run.points = {}
    rows = [
        {
            "judge": who,
            "row_id": "r",
            "criterion": f"line {number}",
            "status": "unknown" if p is None else ("met" if p > 0.5 else "unmet"),
            "probability": p,
        }
        for number, (who, p) in enumerate(zip(judge, probabilities, strict=True))
    ]
    assert run.product(rows) == (None if reward is None else pytest.approx(reward))


def test_rewards_of_a_control_arm_are_taken_as_stored(recompute, copy):
    file = copy["report"] / "summary.json"
    summary = json.loads(file.read_text(encoding="utf-8"))
    summary["experiment"]["reward"]["combine"] = "length"
    file.write_text(json.dumps(summary), encoding="utf-8")
    tamper(copy["training"] / "verdicts.parquet", VERDICTS, lambda rows: rows.clear())
    assert wrong(recompute, copy) == []
