"""A tiny policy, and trainer's checkpoints made from it in verl's layout."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from components.core.spec.source import TinySource
from components.models.materialize import materialize

BESIDE = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
Made = Callable[..., Path]


@pytest.fixture(scope="session")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return materialize(TinySource(kind="tiny", seed=0), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def make_checkpoint(policy: Path) -> Made:
    def make(folder: Path, state: dict[str, torch.Tensor] | None, *, lora: bool = False, ranks: int = 1) -> Path:
        """What verl leaves beside the shards, and on one rank the shard; several ranks write theirs themselves."""
        (folder / "huggingface").mkdir(parents=True)
        for name in BESIDE:
            if (policy / name).exists():
                (folder / "huggingface" / name).write_bytes((policy / name).read_bytes())
        (folder / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": ranks}))
        if lora:
            meta = {"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"}
            (folder / "lora_train_meta.json").write_text(json.dumps(meta))
        if state is not None:
            torch.save(state, folder / "model_world_size_1_rank_0.pt")
        return folder

    return make


@pytest.fixture
def adapted_state(policy: Path) -> Callable[[float], dict[str, torch.Tensor]]:
    """The policy with adapters, as peft names the weights; the halves that start at zero get this deviation."""

    def make(deviation: float) -> dict[str, torch.Tensor]:
        from peft import LoraConfig, get_peft_model

        base = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32)
        adapted = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
        torch.manual_seed(2)
        for name, parameter in adapted.named_parameters():
            if "lora_B" in name and deviation:
                torch.nn.init.normal_(parameter, std=deviation)
        return dict(adapted.state_dict())

    return make
