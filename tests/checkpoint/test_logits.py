"""The merged model is held against the trainer's weights, computed by themselves."""

import json
import math
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from components.checkpoint.adapter import split_adapter
from components.checkpoint.logits import TOLERANCE, token_sequences, verify
from components.checkpoint.verify import compare_weights
from components.core.errors import StepError


def trained_state(policy: Path) -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    state = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).state_dict()
    return {name: tensor * (1 + 0.05 * torch.randn_like(tensor)) for name, tensor in state.items()}


def save(policy: Path, folder: Path, state: dict[str, torch.Tensor], dtype: torch.dtype = torch.float32) -> Path:
    model = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32)
    model.load_state_dict(state)
    model.to(dtype).save_pretrained(folder)
    return folder


def tied(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return state | {"lm_head.weight": state["model.embed_tokens.weight"]}


def test_the_same_weights_give_the_same_logits(tmp_path: Path, policy: Path, make_checkpoint):
    state = tied(trained_state(policy))
    checkpoint = make_checkpoint(tmp_path / "c", state)
    found = verify(checkpoint, save(policy, tmp_path / "m", state), "float32")
    assert (found.difference, found.adapter) == (0.0, None)


def test_rounding_to_bfloat16_stays_within_its_tolerance_and_not_within_the_other(
    tmp_path: Path, policy: Path, make_checkpoint
):
    state = tied(trained_state(policy))
    checkpoint = make_checkpoint(tmp_path / "c", state)
    model = save(policy, tmp_path / "m", state, torch.bfloat16)
    assert 0 < verify(checkpoint, model, "bfloat16").difference < TOLERANCE["bfloat16"]
    with pytest.raises(StepError, match="differ from the trained ones"):
        verify(checkpoint, model, "float32")


def test_another_model_is_seen_in_either_precision(tmp_path: Path, policy: Path, make_checkpoint):
    checkpoint = make_checkpoint(tmp_path / "c", tied(trained_state(policy)))
    for dtype in TOLERANCE:
        with pytest.raises(StepError, match="differ from the trained ones"):
            verify(checkpoint, policy, dtype)


def test_a_number_that_is_none_is_a_difference(tmp_path: Path, policy: Path, make_checkpoint):
    state = tied(trained_state(policy))
    checkpoint = make_checkpoint(tmp_path / "c", state)
    state["model.norm.weight"] = torch.full_like(state["model.norm.weight"], torch.nan)
    model = save(policy, tmp_path / "m", state)
    with pytest.raises(StepError, match=r"1 tensors \(model\.norm\.weight\) hold NaN") as caught:
        verify(checkpoint, model, "float32")
    assert caught.value.where == str(model)
    assert math.isnan(compare_weights(checkpoint, model))


def test_a_merged_model_of_half_its_weights_is_not_filled_up(tmp_path: Path, policy: Path, make_checkpoint):
    state = tied(trained_state(policy))
    checkpoint = make_checkpoint(tmp_path / "c", state)
    path = save(policy, tmp_path / "m", state) / "model.safetensors"
    kept = {name: tensor for name, tensor in load_file(path).items() if ".mlp." not in name}
    path.unlink()
    save_file(kept, path, metadata={"format": "pt"})
    with pytest.raises(StepError, match="missing: 6 tensors"):
        verify(checkpoint, tmp_path / "m", "float32")


def test_weights_whose_logits_overflow_are_no_agreement(tmp_path: Path, policy: Path, make_checkpoint):
    state = tied(trained_state(policy))
    state["model.norm.weight"] = torch.full_like(state["model.norm.weight"], 3e38)
    checkpoint = make_checkpoint(tmp_path / "c", state)
    with pytest.raises(StepError, match="logits are NaN or infinite") as caught:
        verify(checkpoint, save(policy, tmp_path / "m", state), "float32")
    assert caught.value.where == str(checkpoint)


def merged_by_peft(policy: Path, checkpoint: Path, state: dict[str, torch.Tensor], folder: Path) -> Path:
    """The model that peft makes of its own files."""
    adapter = folder.with_name("adapter")
    adapter.mkdir()
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    torch.save(dict(split_adapter(state, checkpoint).weights), adapter / "adapter_model.bin")
    base = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32)
    PeftModel.from_pretrained(base, adapter).merge_and_unload().save_pretrained(folder)
    return folder


def test_a_merged_adapter_agrees(tmp_path: Path, policy: Path, make_checkpoint, adapted_state):
    state = adapted_state(0.5)
    checkpoint = make_checkpoint(tmp_path / "c", state, lora=True)
    found = verify(checkpoint, merged_by_peft(policy, checkpoint, state, tmp_path / "m"), "float32")
    assert found.difference < 1e-5
    assert found.adapter is not None
    assert found.adapter > 1e-2
    assert found.lost is not None
    assert found.lost < 1e-3


def test_what_rounding_takes_of_a_small_adapter_is_told(tmp_path: Path, policy: Path, make_checkpoint, adapted_state):
    """Weights of about 0.02 have steps of 1e-4 in bfloat16; an adapter of less is lost in them, and one of more not."""
    shares = []
    for size in (1e-4, 0.5):
        folder = tmp_path / str(size)
        folder.mkdir()
        state = adapted_state(size)
        checkpoint = make_checkpoint(folder / "c", state, lora=True)
        merged = merged_by_peft(policy, checkpoint, state, folder / "m")
        rounded = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.bfloat16)
        rounded.save_pretrained(folder / "r")
        found = verify(checkpoint, folder / "r", "bfloat16")
        assert found.lost is not None
        shares.append(found.lost)
    assert shares[0] > 0.5 > shares[1]


def test_the_untouched_base_is_refused(tmp_path: Path, policy: Path, make_checkpoint, adapted_state):
    checkpoint = make_checkpoint(tmp_path / "c", adapted_state(0.5), lora=True)
    with pytest.raises(StepError, match="differ from the trained ones"):
        verify(checkpoint, policy, "float32")


def test_the_untouched_base_is_refused_even_where_its_logits_are_close(
    tmp_path: Path, policy: Path, make_checkpoint, adapted_state
):
    checkpoint = make_checkpoint(tmp_path / "c", adapted_state(1e-6), lora=True)
    with pytest.raises(StepError, match="the merged model is the base"):
        verify(checkpoint, policy, "float32")


def test_adapters_of_zeros_change_nothing(tmp_path: Path, policy: Path, make_checkpoint, adapted_state):
    checkpoint = make_checkpoint(tmp_path / "c", adapted_state(0.0), lora=True)
    found = verify(checkpoint, policy, "float32")
    assert (found.difference, found.adapter) == (0.0, 0.0)


@pytest.mark.parametrize("meta", [None, "{}", '{"r": 4, "lora_alpha": 0}'])
def test_adapters_of_unknown_scale_are_refused(tmp_path: Path, policy: Path, make_checkpoint, adapted_state, meta):
    checkpoint = make_checkpoint(tmp_path / "c", adapted_state(0.5), lora=True)
    path = checkpoint / "lora_train_meta.json"
    path.unlink() if meta is None else path.write_text(meta)
    with pytest.raises(StepError, match="scale"):
        verify(checkpoint, policy, "float32")


def test_the_sequences_are_the_same_each_time():
    assert torch.equal(token_sequences(1024), token_sequences(1024))
    assert token_sequences(7).max() < 7
