"""Responses of one model to the prompts of IFEval, without an experiment."""

import dataclasses
import json
import re
from pathlib import Path

from components.core.errors import ConfigError, StepError
from components.core.identity import digest
from components.core.manifest import sha256_file
from components.core.progress import Progress
from components.generate.answers import answer
from components.generate.backend import open_engine
from components.generate.engine import Engine
from components.generate.sampling import Sampling
from components.generate_ifeval.prompts import prompt_rows, response_lines

_REPOSITORY = re.compile(r"[A-Za-z0-9][-\w.]*/[A-Za-z0-9][-\w.]*")
_PROMPT_TOKENS = 4096
"""Room for the longest prompt where the context is not given: much more than any of the official ones takes."""

_SHORT = 16


def model_folder(model: str) -> Path:
    """The folder of a model: a Hugging Face folder, a folder that holds one in model/, or a repository of the hub.

    Raises:
        ConfigError: it is a trainer's checkpoint.
        StepError: it is nothing of the kind.
        GavelError: the hub does not have it, or cannot be reached.
    """
    from components.checkpoint.locate import locate
    from components.core.spec.source import HubSource
    from components.models.materialize import materialize

    path = Path(model).expanduser()
    if not path.exists() and _REPOSITORY.fullmatch(model):
        return materialize(HubSource(kind="hub", repo=model), Path())
    located = locate(path)
    if not located.merged:
        raise ConfigError(
            "this is a trainer's checkpoint, not a model",
            where=str(path),
            remedy="name it as CHECKPOINT (--checkpoint)",
        )
    return located.folder


def weights_sha256(folder: Path) -> str:
    """One hash over configuration and weights of a model's folder."""
    files = sorted(path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin"))
    return digest([[path.name, sha256_file(path)] for path in (folder / "config.json", *files)])


def longest_context(folder: Path, max_tokens: int) -> int:
    """Prompt and response together, as far as the model goes and the benchmark needs.

    Raises:
        StepError: the model's context has no room for the response.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    known = config.get("max_position_embeddings") or config.get("text_config", {}).get("max_position_embeddings")
    wanted = max_tokens + _PROMPT_TOKENS
    context = wanted if known is None else min(int(known), wanted)
    if context <= max_tokens:
        raise StepError(
            f"the model's context of {context} tokens has no room for a prompt beside {max_tokens} of response",
            where=str(folder),
            remedy="lower MAX_TOKENS (--max-tokens)",
        )
    return context


def respond(
    folder: Path, prompts: Path, engine: Engine, sampling: Sampling, *, system_prompt: str | None, work: Path
) -> bytes:
    """Lines of responses, as the scoring reads them; what a killed process had finished is kept in ``work``.

    Raises:
        ContractError: a line of the prompts is bad.
        StepError: there is no model, vLLM is missing, or a prompt leaves no room for its response.
    """
    content = prompts.read_bytes()
    weights = sorted(path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin"))
    identity = digest(
        {
            "weights": [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in weights],
            "config": sha256_file(folder / "config.json"),
            "prompts": sha256_file(prompts),
            "engine": {"backend": engine.backend, "dtype": engine.dtype, "template": engine.chat_template},
            "sampling": dataclasses.asdict(sampling),
            "system_prompt": system_prompt,
        }
    )
    place = work / identity[:_SHORT]
    place.mkdir(parents=True, exist_ok=True)
    rows = answer(
        "model",
        prompt_rows(content, system_prompt=system_prompt, where=str(prompts)),
        sampling,
        chunk=engine.chunk,
        kept=place / "responses.jsonl",
        progress=Progress("ifeval"),
        load=lambda: open_engine(engine, folder),
    )
    return response_lines(rows)
