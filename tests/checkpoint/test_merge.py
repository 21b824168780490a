"""verl's merger on a checkpoint of one rank: nothing of the training may be lost."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from components.checkpoint.merge import merge
from components.checkpoint.verify import compare_weights
from components.core.errors import StepError
from components.core.spec import load_experiment
from components.core.spec.source import TinySource
from components.engine.environment import verl_environment
from components.models.materialize import materialize

pytest.importorskip("verl")


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return materialize(TinySource(kind="tiny", seed=0), tmp_path_factory.mktemp("cache"))


def checkpoint(folder: Path, policy: Path, state: dict[str, torch.Tensor]) -> Path:
    """A checkpoint in verl's layout, as its FSDP manager leaves it on one rank."""
    (folder / "huggingface").mkdir(parents=True)
    for name in (
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "chat_template.jinja",
    ):
        if (policy / name).exists():
            (folder / "huggingface" / name).write_bytes((policy / name).read_bytes())
    torch.save(state, folder / "model_world_size_1_rank_0.pt")
    (folder / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": 1}))
    return folder


def trained_state(policy: Path) -> dict[str, torch.Tensor]:
    """The policy after an update that bfloat16 cannot hold."""
    torch.manual_seed(1)
    state = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).state_dict()
    return {name: tensor * (1 + 1e-4 * torch.rand_like(tensor)) for name, tensor in state.items()}


@pytest.mark.slow
def test_an_update_smaller_than_bfloat16_survives(tmp_path: Path, policy: Path):
    state = trained_state(policy)
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    source = checkpoint(tmp_path / "c", policy, state)
    environment = verl_environment(load_experiment("tiny"))
    merge(source, tmp_path / "m", environment, tmp_path / "log", dtype="float32")
    assert compare_weights(source, tmp_path / "m") == 0.0
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    assert merged.dtype == torch.float32
    expected = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32)
    expected.load_state_dict(state)
    ids = AutoTokenizer.from_pretrained(tmp_path / "m")("Write one sentence.", return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        assert torch.equal(merged.eval()(ids).logits, expected.eval()(ids).logits)


def test_a_merge_that_fails_says_why(tmp_path: Path, policy: Path):
    source = checkpoint(tmp_path / "c", policy, {"model.norm.weight": torch.ones(64)})
    (source / "fsdp_config.json").unlink()
    with pytest.raises(StepError, match="merger failed") as caught:
        merge(source, tmp_path / "m", dict(os.environ), tmp_path / "log", dtype="bfloat16")
    assert "fsdp_config" in str(caught.value) + (tmp_path / "log").read_text()


def test_a_changed_weight_is_seen(tmp_path: Path, policy: Path):
    state = trained_state(policy)
    source = checkpoint(tmp_path / "c", policy, state)
    (tmp_path / "m").mkdir()
    state["model.norm.weight"] = state["model.norm.weight"] * 1.5
    save_file(
        {k: v.contiguous() for k, v in state.items() if k != "lm_head.weight"}, tmp_path / "m" / "model.safetensors"
    )
    assert compare_weights(source, tmp_path / "m") == pytest.approx(0.5, rel=1e-3)


def test_a_lost_weight_is_named(tmp_path: Path, policy: Path):
    state = trained_state(policy)
    source = checkpoint(tmp_path / "c", policy, state)
    (tmp_path / "m").mkdir()
    kept = {k: v.contiguous() for k, v in state.items() if k not in ("lm_head.weight", "model.norm.weight")}
    save_file(kept, tmp_path / "m" / "model.safetensors")
    with pytest.raises(StepError, match=r"model\.norm\.weight"):
        compare_weights(source, tmp_path / "m")


@pytest.mark.slow
def test_an_adapter_is_merged_into_the_base(tmp_path: Path, policy: Path):
    from peft import LoraConfig, get_peft_model

    base = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32)
    adapted = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
    torch.manual_seed(2)
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.5)
    source = checkpoint(tmp_path / "c", policy, dict(adapted.state_dict()))
    (source / "lora_train_meta.json").write_text(json.dumps({"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"}))
    environment = verl_environment(load_experiment("tiny"))
    merge(source, tmp_path / "m", environment, tmp_path / "log", dtype="float32")
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "m", dtype=torch.float32).eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        expected = adapted.eval()(ids).logits
        assert torch.allclose(merged(ids).logits, expected, atol=1e-5)
        untouched = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).eval()(ids).logits
    assert not torch.allclose(untouched, expected, atol=1e-2)
    assert "lora" not in " ".join(load_file(tmp_path / "m" / "model.safetensors"))


@pytest.mark.slow
def test_an_adapter_is_merged_before_it_is_rounded(tmp_path: Path, policy: Path):
    """The base's own rounding and the adapter's would add up otherwise; and the outcome is in bfloat16."""
    from peft import LoraConfig, get_peft_model

    base = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32)
    adapted = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj"]))
    torch.manual_seed(3)
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    source = checkpoint(tmp_path / "c", policy, dict(adapted.state_dict()))
    (source / "lora_train_meta.json").write_text(json.dumps({"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"}))
    merge(source, tmp_path / "m", verl_environment(load_experiment("tiny")), tmp_path / "log", dtype="bfloat16")
    found = load_file(tmp_path / "m" / "model.safetensors")
    assert {tensor.dtype for tensor in found.values()} == {torch.bfloat16}
    expected = adapted.merge_and_unload().state_dict()
    assert all(torch.equal(found[name], expected[name].bfloat16()) for name in found)
