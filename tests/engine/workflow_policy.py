"""A tiny policy that answers with one of a few whole texts, each of which is one token of its tokenizer."""

from collections.abc import Sequence
from pathlib import Path

import torch

from components.models.tiny import write_tiny

_STEPS = 60


def write_policy(folder: Path, prompts: Sequence[str], texts: Sequence[str]) -> None:
    """Write it in Hugging Face layout.

    Args:
        folder: made here.
        prompts: users' turns that it answers.
        texts: what it answers, all about as often.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder.mkdir(parents=True)
    write_tiny(folder, seed=0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(list(texts))
    words = tokenizer.convert_tokens_to_ids(list(texts))
    model = AutoModelForCausalLM.from_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    for step in range(_STEPS):
        turns = [{"role": "user", "content": prompts[step % len(prompts)]}]
        begin = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True)["input_ids"]
        ids = torch.tensor([[*begin, word, tokenizer.eos_token_id] for word in words])
        labels = ids.clone()
        labels[:, :-2] = -100
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
