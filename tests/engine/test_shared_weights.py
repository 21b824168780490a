"""Shared weights: what the trainer writes is what the rollout computes with, from another process as well."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from components.engine.cpu.shared_weights import SharedWeights, remove_left_over, share_parameters


def model(seed: int, tied: bool = True) -> Qwen2ForCausalLM:
    torch.manual_seed(seed)
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=64,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            tie_word_embeddings=tied,
        )
    ).eval()


@pytest.mark.parametrize("tied", [True, False])
def test_the_rollout_computes_with_the_written_weights(tmp_path: Path, tied: bool):
    rollout, trained = model(0, tied), model(1, tied)
    share_parameters(rollout, tmp_path / "l.json", memory=tmp_path)
    shared = SharedWeights(tmp_path / "l.json")
    for name, tensor in trained.state_dict().items():
        shared.write(name, tensor)
    assert shared.finish() == len(list(rollout.named_parameters()))
    ids = torch.tensor([[1, 2, 3]])
    assert torch.equal(rollout(ids).logits, trained(ids).logits)


def test_another_process_writes_into_the_same_memory(tmp_path: Path):
    rollout = model(0)
    share_parameters(rollout, tmp_path / "l.json", memory=tmp_path)
    code = (
        "import sys; from pathlib import Path; import torch;"
        "from components.engine.cpu.shared_weights import SharedWeights;"
        "SharedWeights(Path(sys.argv[1])).write('model.norm.weight', torch.full((16,), 7.0))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "l.json")], check=True)
    assert rollout.model.norm.weight.tolist() == [7.0] * 16


def test_the_memory_has_no_name_once_both_sides_have_it(tmp_path: Path):
    share_parameters(model(0), tmp_path / "l.json", memory=tmp_path)
    SharedWeights(tmp_path / "l.json")
    assert list(tmp_path.iterdir()) == []


def test_memory_of_a_killed_run_is_freed(tmp_path: Path):
    share_parameters(model(0), tmp_path / "l.json", memory=tmp_path)
    remove_left_over(tmp_path / "l.json")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_memory_file_system_is_replaced_by_the_runs_folder(tmp_path: Path):
    share_parameters(model(0), tmp_path / "l.json", memory=tmp_path / "absent")
    assert len(list(tmp_path.glob("gavel-weights-*"))) == 1


def test_a_sync_that_leaves_parameters_out_is_refused(tmp_path: Path):
    share_parameters(model(0), tmp_path / "l.json", memory=tmp_path)
    shared = SharedWeights(tmp_path / "l.json")
    shared.write("model.norm.weight", torch.ones(16))
    with pytest.raises(ValueError, match="left out"):
        shared.finish()


def test_a_wrong_shape_is_refused(tmp_path: Path):
    share_parameters(model(0), tmp_path / "l.json", memory=tmp_path)
    with pytest.raises(ValueError, match=r"has shape \(4,\)"):
        SharedWeights(tmp_path / "l.json").write("model.norm.weight", torch.ones(4))
