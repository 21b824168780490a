"""What results of ``python -m components.ifeval`` are of, and that others' are kept."""

import hashlib
import json
from pathlib import Path

import pytest
from test_ifeval_command import OFFICIAL, command, lines

from components.core.spec.source import TinySource
from components.ifeval.__main__ import main
from components.models.materialize import materialize


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return materialize(TinySource(kind="tiny", seed=0), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(line + "\n" for line in OFFICIAL.read_text().splitlines()[:5]))
    return path


def test_the_summary_says_what_was_scored(tmp_path, policy, prompts):
    assert command(prompts, tmp_path / "out", "--model", policy, "--limit", 2, "--seed", 3) == 0
    origin = json.loads((tmp_path / "out" / "summary.json").read_text())["origin"]
    assert (origin["model"], origin["max_tokens"], origin["samples"], origin["seed"]) == (str(policy), 5, 1, 3)
    assert (origin["temperature"], origin["system_prompt"], origin["corrected"]) == (0.0, None, False)
    assert origin["prompts_sha256"] == hashlib.sha256(prompts.read_bytes()).hexdigest()


def test_results_of_another_model_are_not_replaced(tmp_path, policy, prompts, capsys):
    assert command(prompts, tmp_path / "out", "--model", policy, "--limit", 2) == 0
    assert len(lines(tmp_path / "out" / "responses.jsonl")) == 2
    before = (tmp_path / "out" / "summary.json").read_bytes()
    assert json.loads(before)["prompts"] == 2
    assert command(prompts, tmp_path / "out", "--model", policy, "--limit", 2, "--system-prompt", "Be brief.") == 1
    assert "system_prompt None, now 'Be brief.'" in capsys.readouterr().err
    other = materialize(TinySource(kind="tiny", seed=1), tmp_path / "cache")
    assert command(prompts, tmp_path / "out", "--model", other, "--limit", 2) == 1
    said = capsys.readouterr().err
    assert f"model {str(policy)!r}, now {str(other)!r}" in said
    assert "give another OUTPUT" in said
    assert (tmp_path / "out" / "summary.json").read_bytes() == before
    assert command(prompts, tmp_path / "out", "--model", policy, "--limit", 2) == 0
    assert command(prompts, tmp_path / "out", "--responses", tmp_path / "out" / "responses.jsonl") == 1
    (tmp_path / "out" / "summary.json").write_text("{}")
    assert command(prompts, tmp_path / "out", "--model", policy, "--limit", 2) == 1
    assert "do not say of what they are" in capsys.readouterr().err


def test_the_variables_of_make_are_named_where_they_are_missing(capsys):
    assert main(["--prompts", "", "--output", "o", "--model", "m"]) == 1
    assert "PROMPTS= (--prompts) is missing" in capsys.readouterr().err
    assert main(["--prompts", "p", "--output", "", "--model", "m"]) == 1
    assert "OUTPUT= (--output) is missing" in capsys.readouterr().err


def test_limit_is_of_what_is_generated(tmp_path, prompts, capsys):
    assert command(prompts, tmp_path / "out", "--responses", "r", "--limit", 2) == 1
    assert "shortens what is generated" in capsys.readouterr().err
