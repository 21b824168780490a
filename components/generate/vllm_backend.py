"""Generation with vLLM on GPUs (written against vLLM 0.24)."""

import gc
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.generate.model import Generation, Message
from components.generate.prompts import encode_prompts


class VllmGenerator:
    """A policy in vLLM's offline engine, which batches by itself.

    Args:
        folder: model and tokenizer in Hugging Face layout.
        dtype: ``float32`` or ``bfloat16``.
        context_tokens: longest prompt and response together.
        tensor_parallel: GPUs that share one copy of the model.
        seed: of the engine.
        chat_template: replaces the model's own; None keeps it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        dtype: str,
        context_tokens: int,
        tensor_parallel: int,
        seed: int,
        chat_template: str | None = None,
    ) -> None:
        # The engine is a process of its own; a forked one cannot use a CUDA that this process may have touched.
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        import vllm

        self._engine = vllm.LLM(
            model=str(folder),
            dtype=dtype,
            tensor_parallel_size=tensor_parallel,
            max_model_len=context_tokens,
            seed=seed,
        )
        self._tokenizer = self._engine.get_tokenizer()
        self._context_tokens = context_tokens
        self._chat_template = chat_template

    def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_tokens: int,
        temperature: float,
        samples: int,
        seed: int,
    ) -> Iterator[Generation]:
        """See :class:`components.generate.model.Generator`."""
        import vllm

        encoded = encode_prompts(
            self._tokenizer,
            prompts,
            chat_template=self._chat_template,
            max_prompt_tokens=self._context_tokens - max_tokens,
        )
        params = [
            vllm.SamplingParams(
                n=samples,
                max_tokens=max_tokens,
                temperature=temperature,
                seed=None if temperature == 0 else prompt_seed(seed, ids),
            )
            for ids in encoded
        ]
        outputs = self._engine.generate([{"prompt_token_ids": ids} for ids in encoded], params, use_tqdm=False)
        for index, output in enumerate(outputs):
            samples_of = sorted(output.outputs, key=lambda sample: sample.index)
            yield Generation(
                index=index,
                responses=tuple(sample.text for sample in samples_of),
                finished=tuple(sample.finish_reason == "stop" for sample in samples_of),
                response_tokens=tuple(len(sample.token_ids) for sample in samples_of),
            )

    def close(self) -> None:
        """See :class:`components.generate.model.Generator`. The engine's process ends when nothing refers to it."""
        del self._engine
        gc.collect()


def prompt_seed(seed: int, ids: Sequence[int]) -> int:
    """A seed for one prompt that does not depend on which prompts it is generated with."""
    return int.from_bytes(hashlib.sha256(f"{seed} {list(ids)}".encode()).digest()[:4])
