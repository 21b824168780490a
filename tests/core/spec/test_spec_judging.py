"""How a judge is asked: which settings go with which protocol, and what each protocol needs of judge and data."""

from collections.abc import Callable

import pytest

from components.core.spec.load import load_experiment

CHAT = ["judge=external-example", "reward.value=binary"]
PROTOCOLS = ("rubric", "rubric_per_criterion", "rubric_token", "verif", "verif_per_constraint", "semantic_equality")


def protocol(name: str) -> str:
    return f"reward.protocol={name}"


@pytest.mark.parametrize(
    ("key", "words", "remedy", "overrides"),
    [
        ("judge.logprobs", "likelihood_ratio", "logprobs: true", ["judge.logprobs=false"]),
        ("judge.answer_logprobs", "rubric_token", "answer_logprobs: true", [*CHAT, protocol("rubric_token")]),
        (
            "judge.thinking",
            "would be a thought",
            "thinking: false",
            [*CHAT, protocol("rubric_token"), "judge.answer_logprobs=true", "judge.thinking=true"],
        ),
        (
            "reward.value",
            "without probabilities",
            "reward.value: binary",
            ["judge=external-example", protocol("rubric"), "reward.value=probability"],
        ),
        (
            "data.criteria.0.points",
            "is a penalty",
            "reward.protocol: rubric",
            [*CHAT, protocol("verif"), "data.criteria=[{text: be rude, points: -1}, {text: be kind}]"],
        ),
        ("reward.temperature", "no effect", "remove temperature", [*CHAT, protocol("rubric"), "reward.temperature=2"]),
        ("reward.min_mass", "no effect", "remove min_mass", [*CHAT, protocol("rubric"), "reward.min_mass=0.6"]),
        ("reward.min_mass", "no effect", "remove min_mass", ["reward.min_mass=0.6"]),
        ("reward.prompt", "no effect", "remove prompt", ["reward.prompt=rubric"]),
        (
            "reward.prompts",
            "no effect",
            "remove prompts",
            [*CHAT, protocol("rubric"), "reward.prompts.conditioned=unconditioned"],
        ),
        ("reward.prompt", "there is no file", "known: ", [*CHAT, protocol("rubric"), "reward.prompt=missing"]),
        ("reward.protocol", "rubrics", "rubric", [*CHAT, protocol("rubrics")]),
        ("reward.min_mass", "0", "fraction", [*CHAT, protocol("rubric_token"), "reward.min_mass=0"]),
        ("reward.min_mass", "1.1", "fraction", [*CHAT, protocol("rubric_token"), "reward.min_mass=1.1"]),
    ],
)
def test_what_does_not_go_together(
    refused: Callable[..., str], key: str, words: str, remedy: str, overrides: list[str]
) -> None:
    message = refused(*overrides)
    assert f"{key}: " in message
    assert words in message
    assert remedy in message.partition("remedy:")[2]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_chat_protocol_can_be_configured(name: str) -> None:
    overrides = [*CHAT, protocol(name), "judge.answer_logprobs=true", "judge.thinking=false"]
    found = load_experiment("tiny", overrides)
    assert found.reward.protocol == name
    assert found.reward.prompt is None


@pytest.mark.parametrize("name", ["likelihood_ratio", "rubric_token", "pairwise"])
def test_protocols_with_probabilities_may_weight_by_them(name: str) -> None:
    judge = [] if name == "likelihood_ratio" else ["judge=external-example", "judge.answer_logprobs=true"]
    found = load_experiment("tiny", [*judge, protocol(name), "reward.value=probability"])
    assert found.reward.value == "probability"


def test_another_protocol_or_prompt_is_another_experiment() -> None:
    digests = {load_experiment("tiny", [*CHAT, protocol(name)]).digest() for name in ("rubric", "verif", "pairwise")}
    digests.add(load_experiment("tiny", [*CHAT, protocol("rubric"), "reward.prompt=verif"]).digest())
    assert len(digests) == 4


@pytest.mark.parametrize(
    "change",
    ["judge.temperature=0.5", "judge.max_answer_tokens=77", "judge.thinking=true", "judge.answer_logprobs=true"],
)
def test_what_decides_a_judges_replies_is_part_of_its_identity(change: str) -> None:
    overrides = [*CHAT, protocol("rubric")]
    plain = load_experiment("tiny", overrides).judge.identity()
    assert load_experiment("tiny", [*overrides, change]).judge.identity() != plain


@pytest.mark.parametrize("change", ["judge.cache=false", "judge.stream=always", "judge.timeout_seconds=7"])
def test_how_a_judge_is_reached_is_no_part_of_its_identity(change: str) -> None:
    overrides = [*CHAT, protocol("rubric")]
    plain = load_experiment("tiny", overrides).judge.identity()
    assert load_experiment("tiny", [*overrides, change]).judge.identity() == plain
