"""The reward while training, split by what the prompts carried and into VerIF's factors, by hand."""

import dataclasses
import html
import json
import re

import pytest

from components.core.contracts import ROLLOUTS, read_table, write_table
from components.core.spec.scaffold import ScaffoldSpec
from components.report.evidence import read_evidence
from components.report.heldout import Sampling
from components.report.settings import what_was_shown
from components.report.step import STEP
from components.report.training import analyse_training

SAMPLING = Sampling(resamples=50, confidence=0.95, seed=1)


def with_parts(folder, parts_of):
    path = folder / "rollouts.parquet"
    rows = read_table(path, ROLLOUTS).to_pylist()
    for row in rows:
        row["parts"] = json.dumps(parts_of(row))
    write_table(path, rows, ROLLOUTS)


def scaffold(row):
    """The first sample of a group sees both criteria, the second one; the third's share is too small to show any."""
    ratio = (1.0, 0.5, 1e-9, 0.0)[row["sample_index"]]
    return {"scaffold_ratio": ratio, "scaffold_shown": float(round(2 * ratio))}


def verif(row):
    if row["reward"] is None:
        return {}
    if row["row_id"] == "train-003":
        return {"rules": 1.0, "judge": 0.25, "rule_lines": 0.0, "llm_lines": 2.0}
    return {"rules": 0.5, "judge": row["reward"], "rule_lines": 2.0, "llm_lines": 1.0}


def with_training(experiment, **changes):
    return experiment.model_copy(update={"training": experiment.training.model_copy(update=changes)})


def test_rewards_are_split_by_what_the_prompt_carried(world, tmp_path):
    inputs = world.write(tmp_path)
    with_parts(inputs["training"], scaffold)
    parts = analyse_training(read_evidence(inputs), SAMPLING).parts
    assert list(parts) == ["reward_plain", "reward_scaffolded"]
    plain, shown = parts["reward_plain"], parts["reward_scaffolded"]
    assert (plain.rollouts, shown.rollouts) == (64, 64)
    # Steps 1 and 2. Samples 0 and 1: plain, plain; plain, gold (once both unknown). Samples 2 and 3: rude, gold;
    # plain, short (once the first unknown).
    assert shown.first.mean == pytest.approx((4 * 0.4 + 3 * 0.9) / 14)
    assert plain.first.mean == pytest.approx((4 * 0.7 + 3 * 0.75 + 0.55) / 15)
    assert (shown.total.unknown, plain.total.unknown) == (2, 2)


def test_the_factors_are_means_over_prompts_that_have_such_lines(world, tmp_path):
    inputs = world.write(tmp_path)
    with_parts(inputs["training"], verif)
    training = analyse_training(read_evidence(inputs), SAMPLING)
    assert list(training.parts) == ["factor_rules", "factor_judge"]
    rules, judge = training.parts["factor_rules"], training.parts["factor_judge"]
    # Four of the 128 rewards are unknown, all with prompts 0 and 1; prompt 3 has no rule lines.
    assert (rules.rollouts, judge.rollouts) == (96 - 4, 128 - 4)
    assert rules.total.mean == 0.5
    known = [r.reward for r in read_evidence(inputs).rollouts if r.reward is not None and r.row_id != "train-003"]
    assert judge.total.mean == pytest.approx((sum(known) + 32 * 0.25) / 124)


def test_a_run_with_neither_has_no_parts(world, tmp_path):
    assert analyse_training(read_evidence(world.write(tmp_path)), SAMPLING).parts == {}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({}, "to nothing for the last, in even shares; all of this times a share that fell as a sigmoid around 20 %"),
        ({"decay": "linear"}, "from 100 % at step 1 to 0 % at step 10"),
        ({"decay": "power", "power": 3.0}, "to the power 3"),
        ({"group": "binary", "full": 2, "decay": "none"}, "the first 2 the whole of it and the others nothing; this s"),
    ],
)
def test_the_scaffold_in_words(experiment, spec, told):
    assert told in what_was_shown(with_training(experiment, scaffold=ScaffoldSpec(**spec)))


def test_no_scaffold_is_not_mentioned(experiment):
    assert what_was_shown(experiment) is None


@pytest.mark.parametrize("parts_of", [scaffold, verif])
def test_page_summary_and_recomputation_have_them(make_context, world, experiment, recompute, parts_of):
    context = make_context(world)
    with_parts(context.inputs["training"], parts_of)
    context = dataclasses.replace(context, experiment=with_training(experiment, scaffold=ScaffoldSpec()))
    STEP.run(context)
    text = html.unescape(re.sub(r"<[^>]+>|\s+", " ", (context.out / "report.html").read_text(encoding="utf-8")))
    assert "prompts carried part of their rubric (a scaffold)" in text
    assert ("Reward, prompts that carried no criterion" in text) == (parts_of is scaffold)
    assert ("Rules: mean of the rule checks" in text) == (parts_of is verif)
    summary = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))
    folders = {name: context.inputs[name] for name in ("training", "scores", "generations", "data")}
    checks = recompute.recompute(**folders, report=context.out)
    assert [str(check) for check in checks if not check.agrees] == []
    name = "reward_plain" if parts_of is scaffold else "factor_judge"
    summary["training"]["parts"][name]["last"]["mean"] *= 1.1
    (context.out / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    wrong = [check.name for check in recompute.recompute(**folders, report=context.out) if not check.agrees]
    assert wrong == [f"part {name} last"]
