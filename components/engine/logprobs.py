"""Log-probabilities of the tokens that were sampled, out of a model's logits.

Where flash-attn's kernel is missing, verl 0.9.1 takes the tokens of a packed batch one by one: two launches a token
forward and as many backward, seconds a step for a model of 135 million weights on a GPU; and where logits are bfloat16,
so are its log-probabilities. Here tokens are taken in blocks, in float32.
"""

from typing import Any, Final

import torch
from verl.utils import torch_functional

BLOCK: Final = 2**26
"""Logits that are held once more, in float32, while a block is computed: 256 MiB."""


class _TokenLogprobs(torch.autograd.Function):  # type: ignore[misc]
    """Keeps the logits and one number a token for the backward pass, no copy of the logits."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        blocks = [torch.logsumexp(block.float(), dim=-1) for block in logits.split(_rows(logits))]
        normaliser = torch.cat(blocks) if blocks else logits.new_zeros(0, dtype=torch.float32)
        ctx.save_for_backward(logits, labels, normaliser)
        return logits.gather(1, labels.unsqueeze(1)).squeeze(1).float() - normaliser

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        logits, labels, normaliser = ctx.saved_tensors
        found = torch.empty_like(logits)
        rows = _rows(logits)
        parts = (each.split(rows) for each in (logits, labels, normaliser, grads[0].float(), found))
        for block, label, total, grad, into in zip(*parts, strict=True):
            slope = torch.exp(block.float() - total.unsqueeze(1)).mul_(-grad.unsqueeze(1))
            slope.scatter_add_(1, label.unsqueeze(1), grad.unsqueeze(1))
            into.copy_(slope)
        return found, None


def token_logprobs(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """``log_softmax(logits)`` at the labels, in nats.

    Args:
        logits: of any floating type; shape (..., vocabulary).
        labels: token ids; shape (...).

    Returns:
        float32, of the labels' shape.
    """
    flat: torch.Tensor = _TokenLogprobs.apply(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))
    return flat.view(labels.shape)


def install() -> None:
    """Have verl take :func:`token_logprobs` wherever it has no kernel of its own."""
    torch_functional.logprobs_from_logits_v2 = token_logprobs


def _rows(logits: torch.Tensor) -> int:
    rows: int = max(1, BLOCK // max(1, logits.shape[-1]))
    return rows
