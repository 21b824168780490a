"""How the reward was made is told: by a judge, with rules, or by neither."""

import dataclasses
import json
import re

import pytest

from components.core.spec import Experiment, load_experiment
from components.report.settings import reward_in_full, training_settings, what_was_rewarded
from components.report.step import STEP


def with_reward(experiment: Experiment, **changes: object) -> Experiment:
    return experiment.model_copy(update={"reward": experiment.reward.model_copy(update=changes)})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "The reward came from the judge smollm2-lr"),
        ({"clip": False}, "(sums below 0 stayed below 0)"),
        ({"combine": "verif"}, "mean of the rule checks times what came from the judge smollm2-lr"),
        (
            {"combine": "length", "length_target": 77},
            "words of the response over 77, at most 1, and no judge was asked",
        ),
        ({"combine": "random"}, "control arm (combine random)"),
        ({"combine": "format"}, "marks of a well-formed text"),
        ({"combine": "rule_only"}, "share of the rows' rule lines that hold"),
    ],
)
def test_each_way_has_its_sentence(experiment: Experiment, changes: dict[str, object], told: str) -> None:
    changed = with_reward(experiment, **changes)
    assert told in what_was_rewarded(changed)
    shown = dict(training_settings(changed))
    assert shown["reward.combine"] == changes.get("combine", "rubric")
    assert shown["reward.clip"] == ("no" if changes.get("clip") is False else "yes")


@pytest.mark.parametrize(("combine", "control"), [("rubric", False), ("verif", False), ("length", True)])
def test_a_control_arm_is_called_one_before_any_figure(make_context, world, experiment, combine, control) -> None:
    context = dataclasses.replace(make_context(world), experiment=with_reward(experiment, combine=combine))
    STEP.run(context)
    page = re.sub(r"\s+", " ", (context.out / "report.html").read_text(encoding="utf-8"))
    assert ("Control arm." in page) == control
    assert ("This is a control arm (combine length)" in page) == control
    assert "reward.combine" in page
    # While training the judge gave nothing: neither table, heading, caption nor legend names it.
    name = "Control arm&#39;s reward (length)" if control else "Judge&#39;s reward"
    other = "Judge&#39;s reward" if control else "Control arm&#39;s reward"
    for place in (f">{name} (proxy)</th>", f'<th class="n">{name}</th>', f"{name} (proxy) and gold while training"):
        assert place in page
        assert place.replace(name, other) not in page
    lines = re.findall(r">([^<>]*)</text>", page)
    assert (name[0].lower() + name[1:]).replace("&#39;", "'") in [line.replace("&#39;", "'") for line in lines]
    assert "calls it the control arm&#39;s reward (length)" in page or not control


@pytest.mark.parametrize("combine", ["rubric", "verif", "random"])
def test_rewards_of_one_name_are_told_apart(make_context, world, experiment, combine) -> None:
    changed = with_reward(experiment, combine=combine)
    context = dataclasses.replace(make_context(world), experiment=changed)
    STEP.run(context)
    page = re.sub(r"\s+", " ", (context.out / "report.html").read_text(encoding="utf-8"))
    told = f"likelihood-ratio (combine {combine}, protocol likelihood_ratio, value probability)"
    assert page.count(told) == (3 if combine == "random" else 2)
    summary = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))
    assert summary["reward"] == {
        "name": "likelihood-ratio",
        "combine": combine,
        "protocol": "likelihood_ratio",
        "value": "probability",
        "constraints": None,
    }


def test_how_the_constraints_of_verif_rows_are_taken_is_told() -> None:
    name = reward_in_full(load_experiment("tiny_verinstruct_rl_verif", ["data.constraints=soft_only"]))
    assert name.endswith(", data.constraints soft_only)")
