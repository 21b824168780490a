"""Generation with Hugging Face transformers on the CPU."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from components.generate.model import Generation, Message
from components.generate.prompts import encode_prompts
from components.generate.sampling import Sampling
from components.models.decode import decode
from components.models.grouped_attention import NAME as GROUPED
from components.models.loading import load_model


class HfGenerator:
    """A policy on the CPU.

    Args:
        folder: model and tokenizer in Hugging Face layout.
        batch: prompts generated together.
        context_tokens: longest prompt and response together.
        threads: threads that compute.
        dtype: ``float32`` or ``bfloat16``; without special instructions bfloat16 is several times slower.
        chat_template: replaces the model's own; None keeps it.

    Raises:
        StepError: the model is not whole, or its weights are not finite.
    """

    def __init__(
        self,
        folder: Path,
        *,
        batch: int,
        context_tokens: int,
        threads: int,
        dtype: str = "float32",
        chat_template: str | None = None,
    ) -> None:
        torch.set_num_threads(threads)
        # The step has a progress of its own.
        logging.disable_progress_bar()
        self._model: PreTrainedModel = load_model(folder, dtype, attn_implementation=GROUPED)
        self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder)
        self._batch = batch
        self._context_tokens = context_tokens
        self._chat_template = chat_template
        self._stop_ids = _stop_ids(self._tokenizer, self._model)

    def generate(self, prompts: Sequence[Sequence[Message]], sampling: Sampling) -> Iterator[Generation]:
        """See :class:`components.generate.model.Generator`."""
        encoded = encode_prompts(
            self._tokenizer,
            prompts,
            chat_template=self._chat_template,
            max_prompt_tokens=self._context_tokens - sampling.max_tokens,
        )
        samples = sampling.samples
        generator = torch.Generator().manual_seed(sampling.seed)
        pad_id = self._tokenizer.pad_token_id
        # Prompts of like length together: little is padded.
        order = sorted(range(len(encoded)), key=lambda index: (len(encoded[index]), index))
        for start in range(0, len(order), self._batch):
            indices = order[start : start + self._batch]
            decoded = decode(
                self._model,
                [encoded[index] for index in indices for _ in range(samples)],
                max_tokens=sampling.max_tokens,
                stop_ids=self._stop_ids,
                pad_id=min(self._stop_ids) if pad_id is None else pad_id,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                generator=generator,
            )
            for place, index in enumerate(indices):
                mine = decoded[place * samples : (place + 1) * samples]
                yield Generation(
                    index=index,
                    responses=tuple(
                        str(self._tokenizer.decode(entry.token_ids, skip_special_tokens=True)) for entry in mine
                    ),
                    finished=tuple(entry.finished for entry in mine),
                    response_tokens=tuple(len(entry.token_ids) for entry in mine),
                )

    def close(self) -> None:
        """See :class:`components.generate.model.Generator`."""
        del self._model


def _stop_ids(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> frozenset[int]:
    """The tokenizer's end token, and those of the generation config (some chat models have several)."""
    found = model.generation_config.eos_token_id
    several = found if isinstance(found, list) else [found]
    return frozenset(int(token) for token in [*several, tokenizer.eos_token_id] if token is not None)
