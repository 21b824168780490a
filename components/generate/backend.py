"""Which back end generates: vLLM where there is a GPU, Hugging Face where there is none."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import StepError
from components.generate.model import Generator

if TYPE_CHECKING:
    from components.core.spec import Experiment

GPU_CHUNK = 4096
"""Prompts handed to vLLM at once: enough to keep it busy, few enough to lose little when killed."""


def chunk_size(experiment: "Experiment") -> int:
    """Prompts after which finished work is worth keeping."""
    return experiment.evaluation.batch if experiment.cluster.accelerator == "cpu" else GPU_CHUNK


def open_generator(experiment: "Experiment", folder: Path) -> Generator:
    """Load the policy in ``folder``.

    Raises:
        StepError: the folder holds no model, or vLLM is not installed where it is needed.
    """
    policy, cluster = experiment.policy, experiment.cluster
    if not (folder / "config.json").is_file():
        raise StepError("no model in Hugging Face layout (config.json is missing)", where=str(folder))
    if cluster.accelerator == "cpu":
        from components.generate.hf import HfGenerator

        return HfGenerator(
            folder,
            batch=experiment.evaluation.batch,
            context_tokens=policy.context_tokens,
            threads=cluster.cpu_threads,
            chat_template=policy.chat_template_text,
        )
    from components.generate.vllm_backend import VllmGenerator

    try:
        return VllmGenerator(
            folder,
            dtype=policy.dtype,
            context_tokens=policy.context_tokens,
            tensor_parallel=cluster.tensor_parallel,
            seed=experiment.seed,
            chat_template=policy.chat_template_text,
        )
    except ImportError as error:
        raise StepError(
            f"accelerator gpu generates with vLLM, which cannot be imported: {error}",
            where="cluster.accelerator",
            remedy="run in the evaluation image, install vllm 0.24.0, or set cluster.accelerator=cpu",
        ) from error
