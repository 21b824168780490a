"""The judge: the model whose verdicts make the reward."""

import urllib.parse
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Label, Spec, Text, Tokens
from components.core.spec.source import ModelSource


class JudgeSpec(Spec):
    """The model that judges responses, how it is served and how it is asked."""

    name: Label
    """Name in verdicts, reports and of the deployed service: lower-case letters, digits and hyphens, at most 40.
    The file's name where the file gives none. Unit: none. Required."""
    family: Text
    """Model family, an axis of the study. Unit: none. Required."""
    parameters: Annotated[int, Field(ge=1)] | None = None
    """Number of weights, an axis of the study; null when unknown. Unit: parameters. Default: null."""
    source: ModelSource | None = None
    """Where the weights come from; null only when somebody else serves them. Unit: none. Default: null."""
    serving: Literal["embedded", "vllm", "kserve", "external"]
    """Who serves it: our CPU server, a local vLLM, a KServe InferenceService or somebody else. Unit: none. Required."""
    endpoint: Text | None = None
    """Base URL without /v1, for serving external alone; the others are found by name. Unit: none. Default: null."""
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$")] | None = None
    """NAME of the environment variable that holds the key; never the key itself. Unit: none. Default: null."""
    model_name: Text
    """The model's name as the server knows it. Unit: none. Required."""
    context_tokens: Tokens
    """Longest text that the judge reads. Unit: tokens. Required."""
    logprobs: bool
    """Whether the server returns log-probabilities of the prompt's tokens. Unit: none. Required."""
    port: Annotated[int, Field(ge=1024, le=65535)] | None = None
    """Port of a server on this machine; null takes a free one. Unit: none. Default: null."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Longest wait for one call. Unit: seconds. Default: 60.0."""
    max_concurrency: Annotated[int, Field(ge=1, le=4096)] = 16
    """Most calls under way at once. Unit: calls. Default: 16."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Calls for one verdict before it stays unknown. Unit: calls. Default: 3."""
    weak: Text | None = None
    """A sentence for the report that says why this judge is weak; null when it is not. Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.serving == "external":
            if self.endpoint is None:
                yield Conflict(
                    "endpoint",
                    "serving external needs the server's base URL, and endpoint is null",
                    "give endpoint, for example http://127.0.0.1:8000, or choose serving embedded, vllm or kserve",
                )
            if self.port is not None:
                yield Conflict(
                    "port", f"{self.port} has no effect: nothing is started for serving external", "remove port"
                )
        else:
            if self.endpoint is not None:
                yield Conflict(
                    "endpoint",
                    f"an endpoint is for serving external only; serving {self.serving} is found by the judge's name",
                    "remove endpoint, or set serving: external",
                )
            if self.source is None:
                yield Conflict(
                    "source",
                    f"serving {self.serving} starts a server and needs the weights, and source is null",
                    "give source, for example {kind: hub, repo: owner/name}, or set serving: external with an endpoint",
                )
        if self.endpoint is not None and (problem := _url_problem(self.endpoint)):
            yield Conflict("endpoint", problem, "write it like http://127.0.0.1:8000 (without /v1)")


def _url_problem(url: str) -> str | None:
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"not a URL ({error})"
    if parts.username is not None or parts.password is not None:
        return "the URL carries credentials; name the variable with the key in api_key_env instead"
    if parts.scheme not in ("http", "https") or not parts.hostname or any(char.isspace() for char in url):
        return f"{url!r} is not an http:// or https:// URL"
    if parts.query or parts.fragment:
        return f"{url!r} has a query or a fragment"
    if parts.path.rstrip("/").endswith("/v1"):
        return f"{url!r} ends in /v1, which the client adds itself"
    return None
