"""Scaffolded prompts are checked on real tables with a real tokenizer before the trainer starts."""

from pathlib import Path

import pytest

from components.core.contracts import PROMPTS, write_table
from components.core.errors import ConfigError
from components.core.spec.load import load_experiment
from components.data.item import Item, prompt_rows
from components.gold.checks import GoldChecks
from components.judge.verdict import Criterion
from components.models.materialize import materialize
from components.train.prompts import check_scaffolded_prompts


def table(folder: Path) -> Path:
    item = Item("Name a city.", "t", (Criterion("names a city"), Criterion("is polite", 2.0)), GoldChecks(echo=False))
    path = folder / "train.parquet"
    write_table(path, prompt_rows([item], split="train", data_source="d", system_prompt=None), PROMPTS)
    return path


def test_the_tiny_policy_takes_a_scaffold_and_its_room_is_kept(tmp_path: Path) -> None:
    experiment = load_experiment("tiny", ["training.scaffold={max_tokens: 512}"])
    model = materialize(experiment.policy.source, tmp_path / "cache")
    check_scaffolded_prompts(experiment, model, table(tmp_path))
    cramped = load_experiment("tiny", ["training.scaffold={max_tokens: 8}", "training.max_prompt_tokens=16"])
    with pytest.raises(ConfigError, match="room for 24") as caught:
        check_scaffolded_prompts(cramped, model, table(tmp_path))
    assert "training.scaffold.max_tokens" in caught.value.remedy
    check_scaffolded_prompts(load_experiment("tiny"), model, table(tmp_path))
