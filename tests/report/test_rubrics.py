"""The criteria and hidden checks that a report names are those of the rows."""

import dataclasses
import html
import json
import re

import pytest

from components.core.contracts import PROMPTS, read_table, write_table
from components.report.rubrics import SplitLines, read_rubrics
from components.report.step import STEP

RULE = {"name": "word_count_range", "min_count": 1, "max_count": 9}
OWN = [
    {"text": "Is about tea.", "points": 2.0},
    {"text": "At most 9 words.", "points": 1.0, "verifier": "rule", "rule": RULE},
    {"text": "Is rude.", "points": -1.0},
]


def change(data, split, edit):
    path = data / f"{split}.parquet"
    rows = read_table(path, PROMPTS).to_pylist()
    edit(rows)
    write_table(path, rows, PROMPTS)


def own(rows):
    for number, row in enumerate(rows):
        row["extra_info"]["rubric"] = json.dumps(OWN[: 2 + number % 2])


def page_of(context):
    STEP.run(context)
    text = re.sub(r"<[^>]+>", " ", (context.out / "report.html").read_text(encoding="utf-8"))
    return html.unescape(re.sub(r"\s+", " ", text))


def test_one_rubric_for_all_is_listed(make_context, world, experiment):
    context = make_context(world)
    found = read_rubrics(experiment, context.inputs["data"])
    assert found.shared == (("mentions an animal", 2.0, "llm"), ("is rude", -1.0, "llm"))
    assert (found.as_set, found.own_gold, found.default_prompts) == (True, False, 128)
    text = page_of(context)
    assert "“mentions an animal” (2 points, decided by the judge)" in text
    assert "prompt's own criteria" not in text


def test_criteria_that_no_prompt_has_are_not_named(make_context, world, experiment):
    context = make_context(world)
    for split in ("train", "heldout"):
        change(context.inputs["data"], split, own)
    found = read_rubrics(experiment, context.inputs["data"])
    assert (found.shared, found.as_set, found.default_prompts) == (None, False, 0)
    # 32 and 96 prompts: every second one with the penalty.
    assert found.splits == {
        "training": SplitLines(prompts=32, lines=80, judge=48, rules=32, penalties=16),
        "held out": SplitLines(prompts=96, lines=240, judge=144, rules=96, penalties=48),
    }
    text = page_of(context)
    assert "“mentions an animal”" not in text
    assert "about each prompt's own criteria: training 80 lines in 32 prompts (48 for the judge, 32 for rules" in text
    assert "--data DIR" in text
    summary = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))
    assert summary["rubrics"]["splits"]["held out"]["penalties"] == 48


def test_prompts_that_fall_back_to_the_experiments_criteria_are_counted(make_context, world):
    context = make_context(world)
    change(context.inputs["data"], "train", own)
    assert "96 prompts of all with those of data.criteria" in page_of(context)


def test_one_rubric_that_all_rows_bring_is_listed_and_not_the_experiments(make_context, world):
    context = make_context(world)
    for split in ("train", "heldout"):
        change(
            context.inputs["data"],
            split,
            lambda rows: [row["extra_info"].update(rubric=json.dumps(OWN)) for row in rows],
        )
    text = page_of(context)
    assert "“At most 9 words.” (1 point, decided by a rule)" in text
    assert "“mentions an animal”" not in text
    assert "--data DIR" in text


@pytest.mark.parametrize("checks", ['{"word_list": "foods", "min_words": 4, "max_words": 40}', "null"])
def test_hidden_checks_of_the_rows_are_told_apart(make_context, world, experiment, checks):
    gold = experiment.data.gold
    context = make_context(world)
    change(
        context.inputs["data"], "heldout", lambda rows: [r["reward_model"].update(ground_truth=checks) for r in rows]
    )
    own_gold = checks != "null"
    assert read_rubrics(experiment, context.inputs["data"]).own_gold == own_gold
    text = page_of(dataclasses.replace(context, experiment=experiment))
    assert (f"hidden list “{gold.word_list}”" in text) != own_gold
    assert ("hidden checks of its own prompt" in text) == own_gold
