"""The judge: the model whose verdicts make the reward."""

import urllib.parse
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Label, Spec, Text, Tokens
from components.core.spec.deployment import JudgeDeployment
from components.core.spec.judge_limits import JudgeBudget, JudgeLimits, JudgePrice
from components.core.spec.source import JudgeSource, ModelSource, ScriptedSource

_DECIDES: Final = {
    "name",
    "model_name",
    "context_tokens",
    "logprobs",
    "answer_logprobs",
    "thinking",
    "max_answer_tokens",
    "temperature",
}


_NO_KEYS: Final = ("AWS_", "GAVEL_", "KFP_", "KF_PIPELINES_", "KUBE", "RAY_", "LD_", "PYTHON", "PATH", "HOME")
"""How names begin that are set for other purposes."""


class JudgeSpec(Spec):
    """The model that judges responses, how it is served and how it is asked."""

    name: Label
    """Name in verdicts, reports and of the deployed service: lower-case letters, digits and hyphens, at most 40.
    The file's name where the file gives none. Unit: none. Required."""
    family: Text
    """Model family, an axis of the study. Unit: none. Required."""
    parameters: Annotated[int, Field(ge=1)] | None = None
    """Number of weights, an axis of the study; null when unknown. Unit: parameters. Default: null."""
    source: JudgeSource | None = None
    """Where the weights come from, or what a judge without weights prefers (kind scripted, served as embedded); null
    only when somebody else serves it. Unit: none. Default: null."""
    serving: Literal["embedded", "vllm", "kserve", "external"]
    """Who serves it: our CPU server (embedded) or vLLM as a process of this machine, a KServe InferenceService of the
    cluster, or somebody else. On a cluster without GPUs a small judge is kserve too, with deployment.runtime gavel-cpu:
    the embedded CPU server inside an InferenceService. Unit: none. Required."""
    deployment: JudgeDeployment = JudgeDeployment()
    """The InferenceService, for serving kserve; nothing of it decides a verdict. Unit: none.
    Default: {"runtime": "gavel-vllm", "pool": null, "tensor_parallel": 1, "dtype": "auto", "gpu_memory_share": 0.9,
    "weight_gib": null, "min_replicas": 1, "max_replicas": 1, "cpus": 8.0, "memory_gib": null, "arguments": [],
    "tokens_per_second": null, "start_minutes": null}."""
    endpoint: Text | None = None
    """Base URL without /v1, for serving external alone; the others are found by name. Unit: none. Default: null."""
    replicas: tuple[Text, ...] = ()
    """Base URLs of further servers of the same model, for serving external; the least loaded one is asked. Unit: none.
    Default: []."""
    profile: Literal["auto", "vllm", "kserve", "openai", "dashscope", "generic"] = "auto"
    """Which fields and routes the server understands; auto tells it from serving and the endpoint. Unit: none.
    Default: "auto"."""
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$")] | None = None
    """NAME of the environment variable that holds the key; never the key itself. Unit: none. Default: null."""
    more_key_envs: tuple[Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]*$")], ...] = ()
    """NAMES of variables with further keys, each with its own rate limits. Unit: none. Default: []."""
    model_name: Text
    """The model's name as the server knows it. Unit: none. Required."""
    context_tokens: Tokens
    """Longest text that the judge reads. Unit: tokens. Required."""
    logprobs: bool
    """Whether the server returns log-probabilities of the prompt's tokens. Unit: none. Required."""
    answer_logprobs: bool = False
    """Whether the server returns log-probabilities of the tokens that it writes in a chat. Unit: none.
    Default: false."""
    stream: Literal["auto", "always", "never"] = "auto"
    """Whether replies are streamed; auto streams only where the profile knows that the model does nothing else.
    Unit: none. Default: "auto"."""
    thinking: bool | None = None
    """Switches the model's reasoning on or off where the profile has such a switch; null leaves it to the server.
    Unit: none. Default: null."""
    max_answer_tokens: Tokens = 1024
    """Longest reply of a chat, reasoning included. Unit: tokens. Default: 1024."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Of the judge's replies in a chat; above 0 it adds noise to the reward. Models that take none are sent none.
    Unit: none. Default: 0.0."""
    cache: bool = True
    """Whether whole replies are kept on this machine and used again for the same question. Unit: none.
    Default: true."""
    port: Annotated[int, Field(ge=1024, le=65535)] | None = None
    """Port of a server on this machine; null takes a free one. Unit: none. Default: null."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Longest wait for one call. Unit: seconds. Default: 60.0."""
    max_concurrency: Annotated[int, Field(ge=1, le=4096)] = 16
    """Most calls under way at once. Unit: calls. Default: 16."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Calls for one verdict before it stays unknown. Unit: calls. Default: 3."""
    limits: JudgeLimits = JudgeLimits()
    """Rates and deadlines. Unit: none.
    Default: {"requests_per_minute": null, "tokens_per_minute": null, "latency_target_seconds": null,
    "sample_deadline_seconds": null, "share": 1.0}."""
    budget: JudgeBudget = JudgeBudget()
    """What a run may spend. Unit: none. Default: {"calls": null, "tokens": null, "cost": null}."""
    price: JudgePrice | None = None
    """For the cost in the ledger and the budget; null where nobody pays by token. Unit: none. Default: null."""
    weak: Text | None = None
    """A sentence for the report that says why this judge is weak; null when it is not. Unit: none. Default: null."""

    def identity(self) -> dict[str, Any]:
        """What decides a verdict, wherever and however the judge is served."""
        known = self.model_dump(mode="json", include=_DECIDES)
        return {**known, "source": self.source.identity() if self.source else None}

    @property
    def weights(self) -> ModelSource | None:
        """Where its weights come from; None where it has none here."""
        return None if isinstance(self.source, ScriptedSource) else self.source

    def conflicts(self) -> Iterable[Conflict]:
        if isinstance(self.source, ScriptedSource) and self.serving != "embedded":
            yield Conflict(
                "serving",
                f"{self.serving}, but a scripted judge has nothing that others could serve",
                "set serving: embedded, or start it yourself and remove source",
            )
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
            if self.replicas:
                yield Conflict("replicas", "further URLs are for serving external only", "remove replicas")
            if self.source is None:
                yield Conflict(
                    "source",
                    f"serving {self.serving} starts a server and needs the weights, and source is null",
                    "give source, for example {kind: hub, repo: owner/name}, or set serving: external with an endpoint",
                )
        if self.endpoint is not None and (problem := _url_problem(self.endpoint)):
            yield Conflict("endpoint", problem, "write it like http://127.0.0.1:8000 (without /v1)")
        for url in self.replicas:
            if problem := _url_problem(url):
                yield Conflict("replicas", problem, "write each like http://127.0.0.1:8000 (without /v1)")
        if self.price is None and self.budget.cost is not None:
            yield Conflict("budget.cost", f"{self.budget.cost} needs a price, and price is null", "give price")
        for name in filter(None, (self.api_key_env, *self.more_key_envs)):
            if name.startswith(_NO_KEYS):
                # An experiment of somebody else's would have them sent to an endpoint of its choice.
                yield Conflict(
                    "api_key_env" if name == self.api_key_env else "more_key_envs",
                    f"{name} holds settings or credentials of the run itself, never a judge's key",
                    "give the judge's key a variable of its own, such as JUDGE_API_KEY",
                )
        if self.more_key_envs and self.api_key_env is None:
            yield Conflict("more_key_envs", "further keys without a first one", "name the first one in api_key_env")


def _url_problem(url: str) -> str | None:
    # Before anything reads it as a URL: a password may hold what a URL's parser would quote in its complaint.
    if "@" in url:
        return "the URL carries credentials (not shown), or an @; name the variable with the key in api_key_env instead"
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"not a URL ({error})"
    if parts.scheme not in ("http", "https") or not parts.hostname or any(char.isspace() for char in url):
        return f"{url!r} is not an http:// or https:// URL"
    if parts.query or parts.fragment:
        return f"{url!r} has a query or a fragment"
    if parts.path.rstrip("/").endswith("/v1"):
        return f"{url!r} ends in /v1, which the client adds itself"
    return None
