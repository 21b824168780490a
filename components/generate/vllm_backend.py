"""Generation with vLLM on GPUs (written against vLLM 0.24)."""

import gc
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.generate.engine import Engine
from components.generate.model import Generation, Message
from components.generate.prompts import encode_prompts
from components.generate.sampling import Sampling
from components.models.loading import check_model


class VllmGenerator:
    """A policy in vLLM's offline engine, which batches by itself.

    Args:
        folder: model and tokenizer in Hugging Face layout.
        engine: the settings.

    Raises:
        StepError: the model is not whole, or its weights are not finite.
    """

    def __init__(self, folder: Path, engine: Engine) -> None:
        # The engine is a process of its own; a forked one cannot use a CUDA that this process may have touched.
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        import vllm

        # vLLM computes with weights that are no numbers, and tells of broken files from within its engine.
        check_model(folder)
        self._engine = vllm.LLM(
            model=str(folder),
            dtype=engine.dtype,
            tensor_parallel_size=engine.tensor_parallel,
            max_model_len=engine.context_tokens,
            gpu_memory_utilization=engine.gpu_memory_share,
            seed=engine.seed,
            **({} if engine.batch is None else {"max_num_seqs": engine.batch}),
        )
        self._tokenizer = self._engine.get_tokenizer()
        self._context_tokens = engine.context_tokens
        self._chat_template = engine.chat_template

    def generate(self, prompts: Sequence[Sequence[Message]], sampling: Sampling) -> Iterator[Generation]:
        """See :class:`components.generate.model.Generator`."""
        import vllm

        encoded = encode_prompts(
            self._tokenizer,
            prompts,
            chat_template=self._chat_template,
            max_prompt_tokens=self._context_tokens - sampling.max_tokens,
        )
        params = [
            vllm.SamplingParams(
                n=sampling.samples,
                max_tokens=sampling.max_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=max(0, sampling.top_k),
                seed=None if sampling.temperature == 0 else prompt_seed(sampling.seed, ids),
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
