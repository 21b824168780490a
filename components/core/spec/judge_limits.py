"""How hard a judge may be pressed, and what it may cost."""

from typing import Annotated

from pydantic import Field, StringConstraints

from components.core.spec.base import Spec


class JudgeLimits(Spec):
    """How hard a judge may be pressed. None of it decides a verdict."""

    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    """Calls a minute for each key; null is no limit. Unit: calls. Default: null."""
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = None
    """Tokens a minute for each key, prompt and longest reply together; null is no limit. Unit: tokens.
    Default: null."""
    latency_target_seconds: Annotated[float, Field(gt=0)] | None = None
    """A slower reply makes the engine lower its concurrency, as a 429 does; null looks at refusals alone.
    Unit: seconds. Default: null."""
    sample_deadline_seconds: Annotated[float, Field(gt=0)] | None = None
    """Longest time for all calls about one sample, waiting included; null gives each call timeout_seconds times
    attempts from its turn on. Unit: seconds. Default: null."""
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Part of the rates and of max_concurrency that this run may use, where several runs share a key. Unit: fraction.
    Default: 1.0."""


class JudgeBudget(Spec):
    """What a run may spend on this judge; when a limit is reached, calls in flight end and the run stops."""

    calls: Annotated[int, Field(ge=1)] | None = None
    """Calls, repetitions included; null is no limit. Unit: calls. Default: null."""
    tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens of prompts and replies; null is no limit. Unit: tokens. Default: null."""
    cost: Annotated[float, Field(gt=0)] | None = None
    """Cost by the price; null is no limit. Unit: currency. Default: null."""


class JudgePrice(Spec):
    """What a million tokens cost."""

    prompt: Annotated[float, Field(ge=0)]
    """Price of a million prompt tokens. Unit: currency. Required."""
    completion: Annotated[float, Field(ge=0)]
    """Price of a million tokens of replies, reasoning included. Unit: currency. Required."""
    cached: Annotated[float, Field(ge=0)] | None = None
    """Price of a million prompt tokens that the server had cached; null prices them like others. Unit: currency.
    Default: null."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "USD"
    """ISO 4217 code. Unit: none. Default: "USD"."""
