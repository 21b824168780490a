"""Command lines of the servers that can run on this machine."""

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.core.spec.source import ScriptedSource

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


def embedded_command(spec: "JudgeSpec", folder: Path, *, port: str, threads: int, parent: str | None) -> list[str]:
    """Our CPU server.

    Args:
        spec: the judge.
        folder: its weights in Hugging Face layout.
        port: the port, or the mark that stands for it.
        threads: threads that compute; 0 is one a core.
        parent: ``pid:start`` of the process with which it ends; None ends by signal alone.
    """
    command = [
        *(sys.executable, "-m", "components.judge.server"),
        *("--model", str(folder), "--name", spec.model_name),
        *("--host", "127.0.0.1", "--port", port),
        *("--threads", str(threads), "--context", str(spec.context_tokens)),
    ]
    return command if parent is None else [*command, "--parent", parent]


def scripted_command(spec: "JudgeSpec", *, port: str) -> list[str]:
    """The server of a judge that prefers by rules what its source says.

    Raises:
        JudgeError: the judge's source is another one.
    """
    source = spec.source
    if not isinstance(source, ScriptedSource):
        raise JudgeError("the judge has no script", where=f"judge {spec.name}", remedy="set source: {kind: scripted}")
    biases = [("--bias", f"{axis}={strength:g}") for axis, strength in sorted(source.biases.items())]
    return [
        *(sys.executable, "-m", "components.bias", "scripted"),
        *("--port", port, "--seed", str(source.seed)),
        *("--quality", f"{source.quality:g}", "--sight", f"{source.sight:g}", "--noise", f"{source.noise:g}"),
        *("--strained-words", str(source.strained_words)),
        *(word for pair in biases for word in pair),
    ]


def vllm_command(spec: "JudgeSpec", folder: Path, *, port: str) -> list[str]:
    """A plain vLLM.

    Raises:
        JudgeError: vLLM is not installed.
    """
    if importlib.util.find_spec("vllm") is None:
        raise JudgeError(
            "vLLM is not installed here",
            where=f"judge {spec.name}: serving {spec.serving}",
            remedy="install vllm into this environment, set serving: embedded for the CPU server, or serve "
            "the judge elsewhere and set serving: external",
        )
    return [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(folder), "--served-model-name", spec.model_name),
        *("--host", "127.0.0.1", "--port", port),
        *("--max-model-len", str(spec.context_tokens)),
    ]
