"""A panel in an experiment: names and mappings, overrides, conflicts, identity."""

import json

import pytest

from components.core.errors import ConfigError
from components.core.spec import Experiment, load_experiment

SECOND = "{use: tiny-lr, name: second}"


def load(*overrides: str) -> Experiment:
    return load_experiment("tiny", overrides)


def test_without_a_panel_the_judge_decides_alone():
    experiment = load()
    assert [judge.name for judge in experiment.judges()] == [experiment.judge.name] == ["tiny-lr"]
    assert experiment.verdict_name == "tiny-lr"
    assert load("panel=null").digest() == experiment.digest()


def test_members_are_names_or_mappings_and_decide_beside_the_judge():
    experiment = load(f"panel={{members: [smollm2-lr, {SECOND}], combine: minimum, quorum: 3}}")
    assert [judge.name for judge in experiment.judges()] == ["tiny-lr", "smollm2-lr", "second"]
    assert experiment.judges()[2].source == experiment.judge.source
    assert (experiment.panel.combine, experiment.panel.quorum, experiment.verdict_name) == ("minimum", 3, "panel")
    again = Experiment.from_json(experiment.to_json())
    assert again == experiment
    assert again.digest() == experiment.digest()


def test_fields_of_a_member_can_be_overridden():
    experiment = load(f"panel={{members: [{SECOND}]}}", "panel.members.0.port=5005", "panel.combine=minimum")
    assert experiment.judges()[1].port == 5005
    assert experiment.panel.combine == "minimum"


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (("panel={members: [nobody]}",), ["panel.members.0", "nobody.yaml"]),
        (("panel={members: [tiny-lr]}",), ["judge tiny-lr is a member already"]),
        (("panel={members: []}",), ["panel.members"]),
        (
            (f"panel={{members: [{', '.join([SECOND] * 16)}]}}",),
            ["panel.members", "16 entries are too many: it takes 15 at most"],
        ),
        ((f"panel={{members: [{SECOND}], quorum: 3}}",), ["3 of 2 judges can never be reached"]),
        ((f"panel={{members: [{SECOND}], name: second}}",), ["'second' is a judge's name"]),
        ((f"panel={{members: [{SECOND}], combine: majority}}",), ["reward.value", "set reward.value: binary"]),
        (("panel={members: [{use: tiny-lr, name: second, logprobs: false}]}",), ["panel.members.0.logprobs"]),
        (("panel={members: [{use: tiny-lr, name: second, context_tokens: 2}]}",), ["panel.members.0.context_tokens"]),
        (("panel={members: [{use: tiny-lr, name: second, colour: red}]}",), ["panel.members.0.colour"]),
        (("panel.combine=mean",), ["there is no panel to change"]),
        (("panel=tiny-lr",), ["is not a mapping"]),
    ],
)
def test_impossible_panels_are_named_with_their_remedy(overrides: tuple[str, ...], told: list[str]):
    with pytest.raises(ConfigError) as caught:
        load(*overrides)
    for part in told:
        assert part in str(caught.value)


def test_a_binary_majority_is_possible():
    experiment = load(f"panel={{members: [{SECOND}], combine: majority}}", "reward=likelihood-ratio-binary")
    assert experiment.panel.combine == "majority"


def test_the_identity_of_verdicts_follows_the_panel_and_not_where_it_runs():
    def identity(*overrides: str) -> str:
        return json.dumps(load(*overrides).judge_identity(), sort_keys=True)

    panel = f"panel={{members: [{SECOND}]}}"
    assert "panel" not in load().judge_identity()
    assert identity() != identity(panel) != identity(panel, "panel.combine=minimum")
    assert identity(panel) != identity(panel, "panel.quorum=1")
    assert identity(panel) == identity(panel, "panel.members.0.port=5005", "panel.members.0.max_concurrency=3")
