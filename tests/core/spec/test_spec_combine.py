"""How verdicts are combined: which settings go with which way, and what each way needs of the data."""

from collections.abc import Callable

import pytest

from components.core.spec.load import load_experiment
from components.core.spec.reward import RewardSpec

CHAT = ["judge=external-example", "reward.value=binary"]
PENALTY = "data.criteria=[{text: be rude, points: -1}, {text: be kind}]"
RULE = "{text: 4 to 40 words, verifier: rule, rule: {name: word_count_range, min_count: 4, max_count: 40}}"
CONTROLS = ("rule_only", "length", "random", "format")


@pytest.mark.parametrize(
    ("key", "words", "remedy", "overrides"),
    [
        ("data.criteria.0.points", "-1 is a penalty", "reward.combine: rubric", ["reward.combine=verif", PENALTY]),
        (
            "data.criteria.0.points",
            "reward.combine verif multiplies",
            "positive points",
            [*CHAT, "reward.protocol=verif", "reward.combine=verif", PENALTY],
        ),
        ("reward.clip", "no effect with combine verif", "remove clip", ["reward.combine=verif", "reward.clip=false"]),
        ("reward.length_target", "no effect with combine rubric", "remove length_target", ["reward.length_target=9"]),
        *(
            (
                "reward.pause_minutes",
                f"no effect with combine {combine}",
                "remove pause_minutes",
                [f"reward.combine={combine}", f"data.criteria=[{{text: a}}, {RULE}]", "reward.pause_minutes=5"],
            )
            for combine in CONTROLS
        ),
        (
            "reward.protocol",
            "the criteria of pairwise are none",
            "verif_per_constraint",
            [*CHAT, "reward.combine=verif", "reward.protocol=pairwise"],
        ),
        (
            "reward.protocol",
            "the criteria of semantic_equality are none",
            "verif_per_constraint",
            [*CHAT, "reward.combine=verif", "reward.protocol=semantic_equality"],
        ),
        ("reward.combine", "no line with verifier rule", "one such line", ["reward.combine=rule_only"]),
        ("reward.combine", "product", "rubric", ["reward.combine=product"]),
        ("reward.length_target", "0", "1", ["reward.combine=length", "reward.length_target=0"]),
        ("judge.name", "the name under which the verdicts of rules stand", "another name", ["judge.name=rule"]),
        (
            "panel.name",
            "the name under which the verdicts of rules stand",
            "another name",
            ["panel={name: rule, members: [{use: tiny-lr, name: second}], combine: mean}"],
        ),
        # A control arm's held-out responses are judged, so what the protocol needs is needed there too.
        (
            "reward.min_mass",
            "no effect with protocol",
            "remove min_mass",
            ["reward.combine=length", "reward.min_mass=1"],
        ),
        ("judge.logprobs", "likelihood_ratio", "logprobs: true", ["reward.combine=random", "judge.logprobs=false"]),
    ],
)
def test_what_does_not_go_together(
    refused: Callable[..., str], key: str, words: str, remedy: str, overrides: list[str]
) -> None:
    message = refused(*overrides)
    assert f"{key}: " in message
    assert words in message
    assert remedy in message.partition("remedy:")[2]


@pytest.mark.parametrize(
    "overrides",
    [
        ["reward.combine=verif"],
        [*CHAT, "reward.combine=verif", "reward.protocol=verif"],
        [*CHAT, "reward.combine=verif", "reward.protocol=verif_per_constraint"],
        ["reward.clip=false", PENALTY],
        ["reward.combine=rule_only", f"data.criteria=[{{text: a}}, {RULE}]", "reward.clip=false"],
        ["reward.combine=length", "reward.length_target=1"],
        ["reward.combine=random", PENALTY],
        ["reward.combine=format", "reward.temperature=2"],
    ],
)
def test_what_goes_together(overrides: list[str]) -> None:
    load_experiment("tiny", overrides)


def test_the_defaults_are_the_reward_as_it_was() -> None:
    reward = load_experiment("tiny").reward
    assert (reward.combine, reward.clip, reward.asks_in_training) == ("rubric", True, True)


@pytest.mark.parametrize(
    ("combine", "asks"), [("rubric", True), ("verif", True), *((each, False) for each in CONTROLS)]
)
def test_only_control_arms_do_without_a_judge(combine: str, asks: bool) -> None:
    assert RewardSpec(name="r", combine=combine).asks_in_training is asks


@pytest.mark.parametrize("change", ["reward.combine=verif", "reward.clip=false", "reward.combine=length"])
def test_another_way_is_another_reward(change: str) -> None:
    assert load_experiment("tiny", [change]).reward_identity() != load_experiment("tiny").reward_identity()


def test_the_rewards_of_verif_and_of_control_arms_ship_as_files() -> None:
    for name, combine, protocol in (
        ("verif", "rubric", "verif"),
        ("verif-rules-and-judge", "verif", "verif"),
        ("verif-rules-and-constraints", "verif", "verif_per_constraint"),
        ("length", "length", "rubric"),
        ("random", "random", "rubric"),
        ("format", "format", "rubric"),
    ):
        reward = load_experiment("tiny", [f"reward={name}"]).reward
        assert (reward.combine, reward.protocol, reward.value) == (combine, protocol, "binary"), name


def test_what_a_judge_changes_changes_no_training_of_a_control_arm() -> None:
    def identity(*overrides: str) -> dict[str, object]:
        return load_experiment("tiny", overrides).rewarding_identity()

    for change in ("judge.model_name=other", "reward.temperature=2", "reward.value=binary"):
        assert identity(change) != identity()
        assert identity("reward.combine=length", change) == identity("reward.combine=length")
    assert identity("reward.combine=length") != identity("reward.combine=random")
    assert identity("reward.combine=length", "reward.length_target=9") != identity("reward.combine=length")


def test_the_identity_of_what_a_judge_rewards_is_whole() -> None:
    experiment = load_experiment("tiny")
    expected = {"judge": experiment.judge_identity(), "reward": experiment.reward_identity()}
    assert experiment.rewarding_identity() == expected
