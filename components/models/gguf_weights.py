"""GGUF tensors as a transformers state dict, for the Llama and Qwen2 families."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from transformers import LlamaConfig, LlamaForCausalLM, PretrainedConfig, PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from components.core.errors import GavelError
from components.models.loading import check_finite

_FAMILIES: dict[str, tuple[type[PretrainedConfig], type[PreTrainedModel]]] = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
}
_BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_TOP = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}


def field(reader: GGUFReader, key: str, default: Any = None) -> Any:
    """The value of a metadata key, or ``default``."""
    found = reader.get_field(key)
    return default if found is None else found.contents()


def load_model(path: Path) -> tuple[PreTrainedModel, GGUFReader]:
    """Read a GGUF file as a float32 transformers model.

    Args:
        path: the GGUF file; quantised tensors are dequantised.

    Returns:
        The model, and the reader for its tokenizer metadata.

    Raises:
        GavelError: the file is no GGUF, of a family that is not known here, or of weights that are not finite.
    """
    try:
        reader = GGUFReader(str(path))
    except (ValueError, OSError) as error:
        raise GavelError(
            f"not a readable GGUF file: {error}", where=str(path), remedy="install the package again"
        ) from error
    family = field(reader, "general.architecture")
    if family not in _FAMILIES:
        raise GavelError(
            f"GGUF architecture {family!r} is not known here",
            where=str(path),
            remedy=f"use one of {sorted(_FAMILIES)}, or a Hugging Face folder",
        )
    config_class, model_class = _FAMILIES[family]
    config = _config(reader, family, config_class)
    state = _state_dict(reader, family, config)
    model = model_class(config)
    missing, unexpected = model.load_state_dict(state, strict=False)
    model.tie_weights()
    if unexpected or set(missing) - {"lm_head.weight"}:
        raise GavelError(f"tensors do not fit the model: missing {missing}, unexpected {unexpected}", where=str(path))
    check_finite(model.named_parameters(), path)
    return model, reader


def _config(reader: GGUFReader, family: str, config_class: type[PretrainedConfig]) -> PretrainedConfig:
    def get(key: str, default: Any = None) -> Any:
        return field(reader, f"{family}.{key}", default)

    tied = all(tensor.name != "output.weight" for tensor in reader.tensors)
    return config_class(
        vocab_size=len(field(reader, "tokenizer.ggml.tokens")),
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=get("block_count"),
        num_attention_heads=get("attention.head_count"),
        num_key_value_heads=get("attention.head_count_kv"),
        max_position_embeddings=get("context_length"),
        rms_norm_eps=get("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": float(get("rope.freq_base", 10000.0))},
        tie_word_embeddings=tied,
        bos_token_id=field(reader, "tokenizer.ggml.bos_token_id"),
        eos_token_id=field(reader, "tokenizer.ggml.eos_token_id"),
        pad_token_id=field(reader, "tokenizer.ggml.padding_token_id"),
        dtype="float32",
    )


def _state_dict(reader: GGUFReader, family: str, config: PretrainedConfig) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = {}
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for tensor in reader.tensors:
        weights = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        parts = tensor.name.split(".")
        if parts[0] != "blk":
            state[_TOP[tensor.name]] = torch.from_numpy(np.ascontiguousarray(weights))
            continue
        _, layer, kind, suffix = parts
        if family == "llama" and kind in heads:
            weights = _unpermute(weights, heads[kind])
        state[f"model.layers.{layer}.{_BLOCK[kind]}.{suffix}"] = torch.from_numpy(np.ascontiguousarray(weights))
    return state


def _unpermute(weights: np.ndarray, heads: int) -> np.ndarray:
    """Undo the interleaving of rotary halves that the GGUF writer applies to Llama's query and key projections."""
    rows = weights.shape[0]
    return weights.reshape(heads, rows // heads // 2, 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)
