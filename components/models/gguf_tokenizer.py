"""A GGUF file's tokenizer as a fast Hugging Face tokenizer."""

from gguf import GGUFReader
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from components.core.errors import GavelError
from components.models.gguf_weights import field

_CONTROL, _USER_DEFINED = 3, 4
"""Token types of the GGUF specification that are never split."""

_QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def load_tokenizer(reader: GGUFReader) -> PreTrainedTokenizerFast:
    """Build the tokenizer, with the pre-tokenizer that the model was trained with.

    transformers' own GGUF reader leaves out SmolLM2's splitting of digits, so that numbers tokenize differently from
    training; this one keeps it.

    Raises:
        GavelError: the file names a pre-tokenizer that is not known here.
    """
    tokens, types = field(reader, "tokenizer.ggml.tokens"), field(reader, "tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ", 1)) for merge in field(reader, "tokenizer.ggml.merges")]
    core = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(tokens)}, merges=merges))
    _set_splitting(core, field(reader, "tokenizer.ggml.pre"))
    core.decoder = decoders.ByteLevel()
    typed = list(zip(tokens, types, strict=True))
    core.add_special_tokens([AddedToken(t, special=True, normalized=False) for t, kind in typed if kind == _CONTROL])
    core.add_tokens([AddedToken(t, special=False, normalized=False) for t, kind in typed if kind == _USER_DEFINED])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token=tokens[field(reader, "tokenizer.ggml.bos_token_id")],
        eos_token=tokens[field(reader, "tokenizer.ggml.eos_token_id")],
        pad_token=tokens[field(reader, "tokenizer.ggml.padding_token_id")],
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = field(reader, "tokenizer.chat_template")
    return tokenizer


def _set_splitting(core: Tokenizer, kind: str) -> None:
    if kind == "smollm":
        core.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    elif kind == "qwen2":
        core.normalizer = normalizers.NFC()
        core.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_QWEN2_SPLIT), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    else:
        raise GavelError(f"GGUF pre-tokenizer {kind!r} is not known here", remedy="use smollm or qwen2, or a folder")
