"""Batched sampling from a causal language model on the CPU.

transformers' ``generate`` keeps the logits of every step for log-probabilities and pays for features that are not used
here; this loop keeps one number a token, drops finished rows from the batch, computes the vocabulary projection for the
last position only, and reads a prompt that several rows share once.
"""

import dataclasses
from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from components.models.finite import non_finite
from components.models.growing_cache import growing_cache


@dataclasses.dataclass(frozen=True, slots=True)
class Decoded:
    """One response.

    Attributes:
        token_ids: with the end token, where the model gave one.
        log_probs: natural log-probability of each token under the distribution that it was drawn from.
        finished: whether the model ended the text itself.
    """

    token_ids: list[int]
    log_probs: list[float]
    finished: bool


@torch.inference_mode()
def decode(
    model: PreTrainedModel,
    prompts: Sequence[Sequence[int]],
    *,
    max_tokens: int,
    stop_ids: frozenset[int],
    pad_id: int,
    temperature: float = 0.0,
    top_p: float = 1.0,
    top_k: int = 0,
    generator: torch.Generator | None = None,
) -> list[Decoded]:
    """Continue each prompt by at most ``max_tokens`` tokens.

    Args:
        model: in evaluation mode.
        prompts: token ids, each of at least one token; lengths may differ.
        max_tokens: at least 1.
        stop_ids: tokens that end a response.
        pad_id: for the left padding, which is masked.
        temperature: 0 for greedy, else the softmax temperature.
        top_p: nucleus mass in (0, 1]; 1 is off.
        top_k: 0 or less is off.
        generator: source of randomness; torch's global one when None.

    Returns:
        One :class:`Decoded` a prompt, in order.

    Raises:
        StepError: logits are NaN, or infinitely large.
    """
    # Prompt -> its row until the first token is drawn. All samples of a group have the same one.
    places = {prompt: place for place, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
    width = max(len(prompt) for prompt in places)
    ids = torch.tensor([[pad_id] * (width - len(prompt)) + list(prompt) for prompt in places])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in places])
    rows = list(range(len(prompts)))
    tokens: list[list[int]] = [[] for _ in prompts]
    log_probs: list[list[float]] = [[] for _ in prompts]
    finished = [False] * len(prompts)
    cache = growing_cache(model.config)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    for count in range(max_tokens):
        output = model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits = output.logits[:, -1].float()
        if count == 0 and len(places) < len(prompts):
            each = torch.tensor([places[tuple(prompt)] for prompt in prompts])
            cache.batch_select_indices(each)
            logits, mask, positions = logits[each], mask[each], positions[each]
        chosen, chosen_log_probs = sample(logits, temperature, top_p, top_k, generator)
        # One number a row says it all: NaN or plus infinity anywhere in the row makes its normaliser NaN.
        if not bool(torch.isfinite(chosen_log_probs).all()):
            raise non_finite(model.name_or_path)
        keep = []
        for place, (token, log_prob) in enumerate(zip(chosen.tolist(), chosen_log_probs.tolist(), strict=True)):
            row = rows[place]
            tokens[row].append(token)
            log_probs[row].append(log_prob)
            finished[row] = token in stop_ids
            if not finished[row]:
                keep.append(place)
        if not keep:
            break
        ids, positions = chosen[:, None], positions[:, -1:] + 1
        if len(keep) < len(rows):
            index = torch.tensor(keep)
            cache.batch_select_indices(index)
            ids, mask, positions = ids[index], mask[index], positions[index]
            rows = [rows[place] for place in keep]
        mask = torch.cat([mask, mask.new_ones((len(rows), 1))], dim=1)
    return [Decoded(t, p, f) for t, p, f in zip(tokens, log_probs, finished, strict=True)]


def sample(
    logits: torch.Tensor, temperature: float, top_p: float, top_k: int, generator: torch.Generator | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw one token a row.

    Args:
        logits: float32 (rows, vocabulary).
        temperature: 0 takes the largest logit.
        top_p: nucleus mass in (0, 1].
        top_k: 0 or less is off.
        generator: source of randomness.

    Returns:
        Token ids (rows,) and their log-probabilities (rows,) under the distribution drawn from.
    """
    if temperature <= 0:
        chosen = logits.argmax(-1)
        return chosen, logits.log_softmax(-1).gather(-1, chosen[:, None])[:, 0]
    scaled = logits / temperature
    if top_k > 0:
        floor = scaled.topk(min(top_k, scaled.shape[-1]), dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < floor, -torch.inf)
    if top_p < 1:
        ordered, order = scaled.sort(dim=-1, descending=True)
        before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
        scaled = scaled.scatter(-1, order, ordered.masked_fill(before >= top_p, -torch.inf))
    log_probs = scaled.log_softmax(-1)
    # Inversion of the cumulative distribution needs one random number a row; float64, so that rounding adds no mass
    # to a vocabulary's tail.
    cumulative = log_probs.double().exp_().cumsum(-1)
    drawn = torch.rand((len(logits), 1), dtype=torch.float64, generator=generator) * cumulative[:, -1:]
    chosen = torch.searchsorted(cumulative, drawn, right=True).clamp_(max=logits.shape[-1] - 1)[:, 0]
    return chosen, log_probs.gather(-1, chosen[:, None])[:, 0]
