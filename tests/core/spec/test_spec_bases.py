"""An experiment that starts from another one."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from components.core.spec.load import load_experiment
from components.core.spec.schema import export_schemas


def _write(configs: Path, name: str, text: str) -> None:
    (configs / "experiments" / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_what_is_not_said_comes_from_the_experiment_below(configs: Path) -> None:
    _write(configs, "mine", "use: tiny\nseed: 9\ntraining: {steps: 7}\n")
    mine, tiny = load_experiment("mine", (), configs), load_experiment("tiny", (), configs)
    assert (mine.name, mine.seed, mine.training.steps) == ("mine", 9, 7)
    assert mine.training.model_copy(update={"steps": 3}) == tiny.training
    assert (mine.policy, mine.judge, mine.data, mine.cluster) == (tiny.policy, tiny.judge, tiny.data, tiny.cluster)


def test_a_mapping_changes_a_part_that_below_is_a_name(configs: Path) -> None:
    _write(configs, "mine", "use: tiny\ndata: {train_rows: 31}\n")
    data = load_experiment("mine", (), configs).data
    assert (data.name, data.train_rows, data.heldout_rows) == ("tiny-sentences", 31, 16)


def test_a_name_or_another_use_replaces_a_part(configs: Path) -> None:
    _write(configs, "mine", "use: tiny\ncluster: {use: local-cpu, cpu_threads: 3}\nreward: likelihood-ratio-binary\n")
    mine = load_experiment("mine", (), configs)
    # tiny's own memory_gib does not shine through.
    assert (mine.cluster.name, mine.cluster.cpu_threads, mine.cluster.memory_gib) == ("local-cpu", 3, 12.0)
    assert mine.reward.name == "likelihood-ratio-binary"


def test_a_part_with_a_name_of_its_own_inherits_nothing(configs: Path) -> None:
    (configs / "experiments" / "mine.jsonl").write_text('{"prompt": "Say hello.", "criteria": [{"text": "is kind"}]}')
    part = "{name: letters, kind: jsonl, path: mine.jsonl, train_rows: 12, heldout_rows: 4}"
    _write(configs, "mine", f"use: tiny\ndata: {part}\n")
    data = load_experiment("mine", (), configs).data
    # tiny's criterion and word list are not those of the letters.
    assert (data.name, data.criteria, data.gold) == ("letters", (), None)


def test_experiments_start_from_each_other_over_several_steps(configs: Path) -> None:
    _write(configs, "one", "use: tiny\nseed: 4\ntraining: {steps: 7}\n")
    _write(configs, "two_b", "use: one\ntraining: {micro_batch: 8}\n")
    two = load_experiment("two_b", ["training.checkpoint_every=2"], configs)
    assert (two.name, two.seed) == ("two-b", 4)
    assert (two.training.steps, two.training.micro_batch, two.training.checkpoint_every) == (7, 8, 2)


def test_a_path_starts_at_the_file_that_names_it(configs: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "base.yaml").write_text("use: tiny\nseed: 5\n", encoding="utf-8")
    (tmp_path / "far" / "mine.yaml").write_text("use: ./base.yaml\n", encoding="utf-8")
    assert load_experiment(tmp_path / "far" / "mine.yaml", (), configs).seed == 5


def test_circles_and_missing_experiments_are_named(configs: Path, refused: Callable[..., str]) -> None:
    _write(configs, "one", "use: two\n")
    _write(configs, "two", "use: one\n")
    _write(configs, "three", "use: tinny\n")
    _write(configs, "four", "use: [tiny]\n")
    assert "starts from itself" in refused(experiment="one")
    message = refused(experiment="three")
    assert "there is no experiment 'tinny' in" in message
    assert "tiny" in message.split("tinny", 1)[1]
    assert "is not a name" in refused(experiment="four")


@pytest.mark.parametrize(
    ("tree", "fits"),
    [
        ({"use": "tiny", "training": {"steps": 2}, "data": {"train_rows": 3}}, True),
        ({"use": 3}, False),
        ({"policy": "tiny"}, False),
    ],
)
def test_editors_know_of_it(tmp_path: Path, tree: dict[str, object], fits: bool) -> None:
    export_schemas(tmp_path)
    schema = json.loads((tmp_path / "experiment.schema.json").read_text())
    assert jsonschema.Draft202012Validator(schema).is_valid(tree) is fits
