"""Which back end generates: vLLM where there is a GPU, Hugging Face where there is none."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import StepError
from components.generate.engine import Engine, engine_of
from components.generate.model import Generator

if TYPE_CHECKING:
    from components.core.spec import Experiment


def chunk_size(experiment: "Experiment") -> int:
    """Prompts after which finished work is worth keeping."""
    return engine_of(experiment).chunk


def open_generator(experiment: "Experiment", folder: Path) -> Generator:
    """Load the policy in ``folder`` as the experiment evaluates it; see :func:`open_engine`."""
    return open_engine(engine_of(experiment), folder)


def open_engine(engine: Engine, folder: Path) -> Generator:
    """Load the model in ``folder``.

    Raises:
        StepError: the folder holds no model, or one that is not whole, or vLLM is not installed where it is needed.
    """
    if not (folder / "config.json").is_file():
        raise StepError("no model in Hugging Face layout (config.json is missing)", where=str(folder))
    if engine.backend == "hf":
        from components.generate.hf import HfGenerator

        return HfGenerator(
            folder,
            batch=engine.batch or 1,
            context_tokens=engine.context_tokens,
            threads=engine.threads,
            dtype=engine.dtype,
            chat_template=engine.chat_template,
        )
    from components.generate.vllm_backend import VllmGenerator

    try:
        return VllmGenerator(folder, engine)
    except ImportError as error:
        raise StepError(
            f"accelerator gpu generates with vLLM, which cannot be imported: {error}",
            where="cluster.accelerator",
            remedy="run in the evaluation image, install vllm 0.24.0, or set cluster.accelerator=cpu (for commands "
            "without an experiment: the back end hf)",
        ) from error
