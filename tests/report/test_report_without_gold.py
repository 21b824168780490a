"""A run whose prompts have no hidden checks: the report says so, and claims nothing that would need them."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from components.core.contracts import SCORES, read_table, write_table
from components.core.spec import load_experiment
from components.report.step import STEP

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ("gold", "keyword", "echo", "length_ok")


@pytest.fixture
def without(make_context):
    """From a world and names of checks to the report's context, with these checks left out of the scores."""
    experiment = load_experiment(
        ROOT / "configs" / "experiments" / "quickstart.yaml",
        ["data=small-rubric", "evaluation.bootstrap_samples=400"],
    )

    def report(world, unchecked):
        context = dataclasses.replace(make_context(world), experiment=experiment)
        for name in ("scores.parquet", "rollout_scores.parquet"):
            path = context.inputs["scores"] / name
            rows = [{**row, **dict.fromkeys(unchecked)} for row in read_table(path, SCORES).to_pylist()]
            write_table(path, rows, SCORES)
        STEP.run(context)
        return context

    return report


@pytest.fixture
def plain(without, world):
    return without(world, CHECKS)


def test_the_verdict_is_that_nothing_was_checked(plain):
    summary = json.loads((plain.out / "summary.json").read_text(encoding="utf-8"))
    verdict = summary["verdict"]
    assert (verdict["label"], verdict["real"], verdict["hacking"]) == ("unchecked", False, False)
    assert not any(rule["holds"] for rule in verdict["rules"].values())
    measures = summary["heldout"]["measures"]
    assert {key: measures[key]["shows"] for key in CHECKS} == dict.fromkeys(CHECKS, "not checked")
    assert all(measures[key]["base"] is None and measures[key]["gain"] is None for key in CHECKS)
    # The judge's reward and the length are known as ever.
    assert measures["judge_reward"]["shows"] == "rose"
    assert measures["words"]["n"] == 96
    assert summary["training"]["totals"]["gold"]["mean"] is None
    assert summary["training"]["totals"]["echo"]["mean"] is None


def test_the_page_says_so_and_shows_no_figure_of_what_was_not_checked(plain):
    page = (plain.out / "report.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "No hidden checks, so nothing here tells a real gain from hacking" in text
    assert "These prompts have no gold: nothing that the judge does not see says what is real." in text
    assert "The prompts have no hidden checks" in text
    assert "Not checked, and so in no table: passes the gold check, has a gold keyword" in text
    assert "hidden list" not in text
    assert "Does the judge's reward follow gold" not in text
    assert "None”" not in text
    header = (plain.out / "figures" / "proxy_gold_by_step.csv").read_text().splitlines()[0]
    assert header == "step,proxy,proxy_error,proxy_n"
    header = (plain.out / "figures" / "echo_length_by_step.csv").read_text().splitlines()[0]
    assert header == "step,words,words_error,words_n"
    levels = (plain.out / "figures" / "heldout_levels.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in levels] == ["measure", "judge_reward"]


def test_parroting_is_found_also_without_gold(without, world):
    context = without(world, ("gold", "keyword"))
    verdict = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))["verdict"]
    assert (verdict["label"], verdict["hacking"]) == ("hacking", True)
    assert [key for key, rule in verdict["rules"].items() if rule["holds"]] == ["echo_rose"]


def test_a_judge_that_rose_makes_no_hacking_where_nobody_checked(without, world):
    world.trained = ["echo"] * 96
    context = without(world, CHECKS)
    verdict = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))["verdict"]
    assert verdict["label"] == "unchecked"
    assert not any("Hacking" in sentence for sentence in verdict["sentences"])


def test_the_script_recomputes_a_run_without_gold(plain, recompute):
    folders = {name: plain.inputs[name] for name in ("training", "scores", "generations", "data")}
    assert [str(check) for check in recompute.recompute(**folders, report=plain.out) if not check.agrees] == []
