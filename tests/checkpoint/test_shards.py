"""Weights of several ranks, written by FSDP2 over gloo, and merged by verl."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from components.checkpoint.adapter import has_adapter
from components.checkpoint.merged import merge_verified
from components.checkpoint.shards import full_state
from components.core.errors import StepError
from components.core.progress import Progress
from components.core.services.ports import free_ports
from components.engine.environment import environment_on

pytest.importorskip("verl")
pytestmark = [pytest.mark.slow, pytest.mark.suites]

RANKS = 3
"""Divides none of the tiny model's dimensions, so that the ranks' parts differ in size."""


def write(state: dict[str, torch.Tensor], folder: Path, work: Path) -> Path:
    torch.save(state, work / "weights.pt")
    (port,) = free_ports(1)
    settings = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).with_name("write_shards.py")), str(work / "weights.pt"), str(folder)]
    children = [
        subprocess.Popen(command, env={**os.environ, **settings, "RANK": str(rank)}, stderr=subprocess.PIPE, text=True)
        for rank in range(RANKS)
    ]
    for child in children:
        _, errors = child.communicate(timeout=200)
        assert child.returncode == 0, errors[-2000:]
    return folder


def merge(checkpoint: Path, work: Path) -> dict[str, object]:
    return merge_verified(
        checkpoint,
        work / "model",
        environment=environment_on("cpu", 1),
        log=work / "log",
        dtype="float32",
        progress=Progress("merge"),
    )


def test_three_ranks_make_the_weights_and_the_model(tmp_path: Path, policy: Path, make_checkpoint):
    torch.manual_seed(4)
    state = {
        name: tensor + 1e-3 * torch.randn_like(tensor)
        for name, tensor in AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).state_dict().items()
    }
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    checkpoint = write(state, make_checkpoint(tmp_path / "c", None, ranks=RANKS), tmp_path)
    whole = full_state(checkpoint)
    assert set(whole) == set(state)
    assert all(torch.equal(whole[name], state[name]) for name in state)
    found = merge(checkpoint, tmp_path)
    assert (found["ranks"], found["largest_weight_difference"], found["logit_difference"]) == (3, 0.0, 0.0)
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "model").state_dict()
    assert all(torch.equal(merged[name], state[name]) for name in state)
    (checkpoint / "model_world_size_3_rank_1.pt").unlink()
    with pytest.raises(StepError, match=r"of 3 ranks the shards of \[1\] are missing"):
        merge(checkpoint, tmp_path)


def test_adapters_of_three_ranks_are_merged(tmp_path: Path, make_checkpoint, adapted_state):
    state = adapted_state(0.5)
    checkpoint = write(state, make_checkpoint(tmp_path / "c", None, lora=True, ranks=RANKS), tmp_path)
    assert has_adapter(full_state(checkpoint))
    found = merge(checkpoint, tmp_path)
    assert found["logit_difference"] < 1e-5
    assert found["adapter_effect"] > 1e-2
