"""Attention of one new token a row, in which query heads that share keys and values read them where they are.

With padded prompts transformers' ``sdpa`` first copies keys and values once for each query head; with long prompts on a
CPU that is most of the decoding. Here such heads stand in the place of further tokens, which changes no sum.
"""

from typing import Any, Final

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME: Final = "gavel_grouped"
"""For ``attn_implementation``."""


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """transformers' interface; everything but one new token a row with a mask is left to its ``sdpa``.

    Args:
        module: the layer's attention.
        query: (rows, heads, tokens, width).
        key: (rows, groups, length, width).
        value: (rows, groups, length, width).
        attention_mask: (rows, 1, tokens, length), true or 0 where a key is seen.
        dropout: 0 where nothing is trained.
        scaling: of the products; None is the root of the width.
        more: of the interface.

    Returns:
        (rows, tokens, heads, width), and no weights.
    """
    rows, heads, tokens, width = query.shape
    if tokens > 1 or attention_mask is None or dropout:
        found: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **more
        )
        return found
    groups = key.shape[1]
    grouped = query.reshape(rows, groups, heads // groups, width)
    seen = scaled_dot_product_attention(grouped, key, value, attn_mask=attention_mask, scale=scaling)
    return seen.reshape(rows, 1, heads, width), None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
