"""``python -m components.ifeval`` as a user types it, with the tiny model."""

import argparse
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from components.core.spec.source import TinySource
from components.ifeval import generation
from components.ifeval.__main__ import _parser, main
from components.models.materialize import materialize

OFFICIAL = Path(__file__).resolve().parents[1] / "score" / "ifeval" / "prompts.jsonl"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return materialize(TinySource(kind="tiny", seed=0), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(line + "\n" for line in OFFICIAL.read_text().splitlines()[:5]))
    return path


def command(prompts: Path, output: Path, *more: object) -> int:
    small = ["--max-tokens", "5", "--threads", "1", "--batch", "2", "--backend", "hf"]
    return main(["--prompts", str(prompts), "--output", str(output), *small, *map(str, more)])


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_model_answers_and_is_scored(tmp_path, policy, prompts, capsys):
    assert command(prompts, tmp_path / "out", "--model", policy) == 0
    assert "Pr(S)" in capsys.readouterr().out
    assert [row["key"] for row in lines(tmp_path / "out" / "responses.jsonl")] == [row["key"] for row in lines(prompts)]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["prompts"] == 5
    assert len(lines(tmp_path / "out" / "eval_results_strict.jsonl")) == 5
    # The same responses, named, are scored without a model.
    assert command(prompts, tmp_path / "again", "--responses", tmp_path / "out" / "responses.jsonl") == 0
    again = json.loads((tmp_path / "again" / "summary.json").read_text())
    assert again.pop("origin")["responses"] == str(tmp_path / "out" / "responses.jsonl")
    assert summary.pop("origin")["model"] == str(policy)
    assert again == summary
    assert not (tmp_path / "again" / "responses.jsonl").exists()


def test_what_was_generated_is_not_generated_again(tmp_path, policy, prompts, monkeypatch):
    assert command(prompts, tmp_path / "out", "--model", policy) == 0
    first = (tmp_path / "out" / "responses.jsonl").read_bytes()
    monkeypatch.setattr(generation, "open_engine", lambda *_: pytest.fail("the model was loaded"))
    assert command(prompts, tmp_path / "out", "--model", policy) == 0
    assert (tmp_path / "out" / "responses.jsonl").read_bytes() == first


def test_samples_are_drawn(tmp_path, policy, prompts):
    more = ("--samples", 3, "--temperature", 0.7, "--top-p", 0.8, "--top-k", 20, "--seed", 4)
    assert command(prompts, tmp_path / "out", "--model", policy, *more) == 0
    rows = lines(tmp_path / "out" / "responses.jsonl")
    assert all(len(row["response"]) == 3 for row in rows)
    assert len(lines(tmp_path / "out" / "eval_results_loose.jsonl")) == 15


@pytest.mark.slow
def test_a_checkpoint_is_merged_kept_and_answers(tmp_path, policy, prompts, capsys):
    pytest.importorskip("verl")
    actor = tmp_path / "global_step_3" / "actor"
    (actor / "huggingface").mkdir(parents=True)
    for path in policy.iterdir():
        if path.suffix in (".json", ".jinja") and "complete" not in path.name:
            (actor / "huggingface" / path.name).write_bytes(path.read_bytes())
    state = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).state_dict()
    torch.save(state, actor / "model_world_size_1_rank_0.pt")
    (actor / "fsdp_config.json").write_text('{"FSDP_version": 2, "world_size": 1}')
    kept = tmp_path / "kept"
    assert command(prompts, tmp_path / "a", "--checkpoint", actor.parent, "--merge-target", kept) == 0
    assert (kept / "model.safetensors").is_file()
    assert command(prompts, tmp_path / "b", "--model", policy) == 0
    assert (tmp_path / "a" / "responses.jsonl").read_bytes() == (tmp_path / "b" / "responses.jsonl").read_bytes()
    assert command(prompts, tmp_path / "a", "--checkpoint", actor.parent, "--merge-target", kept) == 0
    assert "merged before" in capsys.readouterr().out
    assert command(prompts, tmp_path / "c", "--checkpoint", actor.parent, "--merge-target", policy) == 1
    assert "not of this checkpoint" in capsys.readouterr().err
    assert command(prompts, tmp_path / "c", "--model", actor) == 1
    assert "trainer's checkpoint, not a model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "nothing is given that could be scored"),
        (("--model", "m", "--checkpoint", "c"), "MODEL (--model) and CHECKPOINT (--checkpoint) are given"),
        (("--model", "m", "--responses", "r"), "MODEL (--model) and RESPONSES (--responses) are given"),
        (("--model", "m", "--merge-target", "t"), "keeps a merged checkpoint, and none is given"),
        (("--model", "none/of/it"), "there is no such folder"),
        (("--checkpoint", "nowhere"), "there is no such folder"),
        (("--model", "m", "--samples", "2"), "all the same"),
        (("--responses", "nowhere.jsonl"), "there is no such file"),
    ],
)
def test_mistakes_are_told(tmp_path, prompts, capsys, more, words):
    assert command(prompts, tmp_path / "out", *more) == 1
    assert words in capsys.readouterr().err


def test_a_bad_prompt_is_told_before_a_model_is_loaded(tmp_path, policy, capsys):
    path = tmp_path / "p.jsonl"
    path.write_text('{"key": 1, "prompt": "a", "instruction_id_list": ["no:such"], "kwargs": [{}]}')
    assert command(path, tmp_path / "out", "--model", policy) == 1
    assert "no:such" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda all_: {n: t for n, t in all_.items() if ".mlp." not in n}, "missing: 6 tensors"),
        (lambda all_: {f"foo.{n}": t for n, t in all_.items()}, "not known to the model: 26 tensors"),
        (lambda all_: {n: t * float("nan") for n, t in all_.items()}, "hold NaN or infinite weights"),
        (lambda _: None, "model.safetensors is a file of 1000 bytes"),
    ],
)
def test_a_model_that_is_not_whole_gets_no_figures(tmp_path, policy, prompts, capsys, change, words):
    folder = shutil.copytree(policy, tmp_path / "m")
    weights = folder / "model.safetensors"
    changed = change(load_file(weights))
    if changed is None:
        weights.write_bytes(weights.read_bytes()[:1000])
    else:
        weights.unlink()
        save_file(changed, weights, metadata={"format": "pt"})
    assert command(prompts, tmp_path / "out", "--model", folder) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize("option", [["--samples", "0"], ["--gpu-memory", "1.5"], ["--backend", "x"]])
def test_impossible_values_are_refused(option):
    with pytest.raises(SystemExit):
        _parser().parse_args(["--prompts", "p", "--output", "o", *option])


def test_the_context_is_what_the_model_has_and_the_benchmark_needs(tmp_path):
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 2048}')
    assert generation.longest_context(tmp_path, 1280) == 2048
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 131072}')
    assert generation.longest_context(tmp_path, 1280) == 1280 + 4096
    assert isinstance(_parser(), argparse.ArgumentParser)
