"""Whatever is written, the loader either loads it or raises the one error for users."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from components.core.errors import ConfigError
from components.core.spec import Experiment, load_experiment
from components.core.spec.load import DEFAULT_CONFIGS

GOOD = (DEFAULT_CONFIGS / "experiments" / "tiny.yaml").read_text(encoding="utf-8")
KEYS = st.sampled_from(
    [
        "policy",
        "policy.source",
        "policy.source.kind",
        "policy.source.path",
        "policy.chat_template",
        "judge",
        "judge.endpoint",
        "judge.source",
        "reward.prompts",
        "data.criteria",
        "data.criteria.0",
        "data.criteria.0.text",
        "data.path",
        "data.kind",
        "data.gold",
        "training",
        "training.lora",
        "training.steps",
        "cluster.store",
        "cluster.store.kind",
        "evaluation",
        "name",
        "seed",
    ]
)
VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "{}",
            "[]",
            "[{}]",
            "null",
            "folder",
            "hub",
            "jsonl",
            "s3",
            ".nan",
            "-1",
            "1e999",
            "{kind: folder, path: x}",
            "{kind: [a]}",
            "{kind: {a: b}}",
            "'~nobody-here/x'",
            '"\\0"',
            "a" * 300,
            "[[[[1]]]]",
            "{use: tiny}",
            "{use: {}}",
            "&a [*a]",
            "http://[",
            "s3://a",
            "0x" + "f" * 5000,
        ]
    ),
)
SLOW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.lists(st.builds("{}={}".format, KEYS | st.text(max_size=8), VALUES), max_size=3))
@example(["data.kind=jsonl", 'data.path="\\0"'])
@example(["policy.source={kind: folder, path: '~nobody-here/x'}"])
@example(["policy.source={kind: {a: b}}"])
@SLOW
def test_any_override(overrides: list[str]) -> None:
    with contextlib.suppress(ConfigError):
        assert isinstance(load_experiment("tiny", overrides), Experiment)


@given(data=st.data())
@SLOW
def test_any_damage_to_a_file(tmp_path: Path, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(GOOD)))
    length = data.draw(st.integers(0, 40))
    text = GOOD[:start] + data.draw(st.text(max_size=10)) + GOOD[start + length :]
    path = tmp_path / "damaged.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(ConfigError):
        assert isinstance(load_experiment(path), Experiment)


@given(st.binary(max_size=60))
@SLOW
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError):
        load_experiment(path)


@given(st.text(max_size=40))
@example("~nobody-here/x.yaml")
@example("\0.yaml")
@SLOW
def test_any_experiment_name(name: str) -> None:
    with contextlib.suppress(ConfigError):
        load_experiment(name)


@given(st.text(max_size=60) | st.sampled_from(["{}", "[]", "null", '{"a": NaN}', "[" * 1000, '"\\ud800"']))
@SLOW
def test_any_json(text: str) -> None:
    with pytest.raises(ConfigError):
        Experiment.from_json(text)
