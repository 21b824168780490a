"""A judge on its own: the same file, checks and errors as inside an experiment."""

import pytest

from components.core.errors import ConfigError
from components.core.spec.load import load_experiment
from components.core.spec.single import load_judge


def test_a_judge_is_what_an_experiment_would_get() -> None:
    assert load_judge("tiny-lr") == load_experiment("tiny", ["judge=tiny-lr"]).judge


def test_overrides_have_the_judge_s_own_keys() -> None:
    judge = load_judge("external-example", ["endpoint=http://127.0.0.1:9", "judge.limits.share=0.5"])
    assert (judge.endpoint, judge.limits.share) == ("http://127.0.0.1:9", 0.5)


@pytest.mark.parametrize(
    ("name", "overrides", "said"),
    [
        ("tiny-rl", [], "tiny-lr"),
        ("tiny-lr", ["endpoint=http://127.0.0.1:9"], "serving external only"),
        ("tiny-lr", ["modle_name=x"], "model_name"),
        ("tiny-lr", ["port"], "key=value"),
    ],
)
def test_a_mistake_names_key_and_remedy(name: str, overrides: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_judge(name, overrides)
