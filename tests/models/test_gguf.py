"""The GGUF conversion, on a file written here by the format's own library."""

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from components.core.errors import GavelError
from components.models.gguf_tokenizer import load_tokenizer
from components.models.gguf_weights import load_model

HIDDEN, HEADS, KV_HEADS, LAYERS, INNER = 32, 4, 2, 2, 64
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *[chr(c) for c in range(33, 127)], "Ġ", "ab"]
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def interleave(weights: np.ndarray, heads: int) -> np.ndarray:
    """The row order of llama.cpp's converter: rotary halves interleaved within each head."""
    rows = []
    size = weights.shape[0] // heads
    for head in range(heads):
        block = weights[head * size : (head + 1) * size]
        for place in range(size // 2):
            rows += [block[place], block[place + size // 2]]
    return np.stack(rows)


@pytest.fixture
def original() -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(TOKENS),
            hidden_size=HIDDEN,
            intermediate_size=INNER,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            max_position_embeddings=128,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
        )
    ).eval()


def write(path: Path, model: LlamaForCausalLM, architecture: str = "llama", pre: str = "smollm") -> None:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_context_length(128)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, 3] + [1] * (len(TOKENS) - 3))
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_chat_template("{{ messages[0]['content'] }}")
    for name, tensor in model.state_dict().items():
        weights = tensor.float().numpy()
        parts = name.split(".")
        if name == "model.embed_tokens.weight":
            writer.add_tensor("token_embd.weight", weights)
        elif name == "model.norm.weight":
            writer.add_tensor("output_norm.weight", weights)
        elif parts[1] == "layers":
            kind = NAMES[".".join(parts[3:-1])]
            heads = {"attn_q": HEADS, "attn_k": KV_HEADS}.get(kind)
            writer.add_tensor(f"blk.{parts[2]}.{kind}.weight", interleave(weights, heads) if heads else weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_the_converted_model_computes_what_the_original_does(tmp_path: Path, original: LlamaForCausalLM):
    write(tmp_path / "m.gguf", original)
    converted, _ = load_model(tmp_path / "m.gguf")
    ids = torch.tensor([[5, 9, 30, 31, 60]])
    with torch.inference_mode():
        assert torch.allclose(converted.eval()(ids).logits, original(ids).logits, atol=1e-6)
    assert converted.config.tie_word_embeddings


def test_the_tokenizer_splits_digits_and_keeps_special_tokens_whole(tmp_path: Path, original: LlamaForCausalLM):
    write(tmp_path / "m.gguf", original)
    _, reader = load_model(tmp_path / "m.gguf")
    tokenizer = load_tokenizer(reader)
    assert tokenizer.tokenize("ab12") == ["ab", "1", "2"]
    assert tokenizer("<|im_end|>")["input_ids"] == [2]
    assert tokenizer.padding_side == "left"
    assert tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False) == "hi"


def test_an_unknown_architecture_is_named(tmp_path: Path, original: LlamaForCausalLM):
    write(tmp_path / "m.gguf", original, architecture="mamba")
    with pytest.raises(GavelError, match="'mamba'"):
        load_model(tmp_path / "m.gguf")


def test_an_unknown_pre_tokenizer_is_named(tmp_path: Path, original: LlamaForCausalLM):
    write(tmp_path / "m.gguf", original, pre="tekken")
    _, reader = load_model(tmp_path / "m.gguf")
    with pytest.raises(GavelError, match="'tekken'"):
        load_tokenizer(reader)


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path):
    (tmp_path / "x.gguf").write_bytes(b"not a model at all, but long enough to be read as a header" * 4)
    with pytest.raises(GavelError, match="not a readable GGUF"):
        load_model(tmp_path / "x.gguf")


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, original: LlamaForCausalLM):
    original.model.norm.weight.data[1] = torch.nan
    write(tmp_path / "m.gguf", original)
    with pytest.raises(GavelError, match=r"1 tensors \(model\.norm\.weight\) hold NaN"):
        load_model(tmp_path / "m.gguf")
