"""Which profile a judge has."""

import urllib.parse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from components.core.errors import JudgeError
from components.judge.profiles.base import Profile
from components.judge.profiles.dashscope import DashScope
from components.judge.profiles.generic import Generic
from components.judge.profiles.kserve import Kserve
from components.judge.profiles.openai import OpenAi
from components.judge.profiles.vllm import Vllm

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_PREFIXES: Final[Mapping[type[Profile], str]] = {
    Generic: "",
    Vllm: "",
    Kserve: "/openai",
    OpenAi: "",
    DashScope: "/compatible-mode",
}
_RUNTIMES: Final[Mapping[str, type[Profile]]] = {"gavel-vllm": Vllm, "gavel-cpu": Generic}
"""Our own runtimes serve /v1 alone; others are taken for KServe's Hugging Face runtime."""
_KINDS: Final = {kind.name: kind for kind in _PREFIXES}


def profile_for(spec: "JudgeSpec", endpoint: str) -> Profile:
    """The profile that the judge names, or the one that its serving and endpoint tell.

    Args:
        spec: the judge.
        endpoint: base URL without ``/v1``; the provider's own prefix may stand at its end or be left out.

    Raises:
        JudgeError: the judge forbids streaming, and its model does nothing else.
    """
    kind = _KINDS[spec.profile] if spec.profile != "auto" else _told(spec, endpoint)
    prefix = _PREFIXES[kind]
    profile = kind("" if prefix and endpoint.rstrip("/").endswith(prefix) else prefix)
    if spec.stream == "never" and profile.only_streams(spec):
        raise JudgeError(
            f"stream: never, but {profile.name} serves {spec.model_name} only as a stream",
            where=f"judge {spec.name}",
            remedy="set stream: auto, or thinking: false where the model can do without",
        )
    return profile


def _told(spec: "JudgeSpec", endpoint: str) -> type[Profile]:
    if spec.serving != "external":
        if spec.serving == "kserve":
            return _RUNTIMES.get(spec.deployment.runtime, Kserve)
        return {"embedded": Generic, "vllm": Vllm}[spec.serving]
    parts = urllib.parse.urlsplit(endpoint)
    host = f".{(parts.hostname or '').lower()}"
    path = parts.path.rstrip("/")
    if path.endswith("/compatible-mode") or (host.endswith(".aliyuncs.com") and ".dashscope" in host):
        return DashScope
    if host.endswith(".api.openai.com"):
        return OpenAi
    if path.endswith("/openai"):
        return Kserve
    return Generic
