"""The request body of /v1/chat/completions, checked field by field."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import pydantic

from components.judge.server.jobs import Job
from components.judge.server.request import RequestError, checked
from components.judge.server.text import Encoded, Text

_FIXED: Final[Mapping[str, Any]] = {
    "n": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "logit_bias": None,
    "tools": None,
    "response_format": {"type": "text"},
}
"""Standard fields of which only the neutral value is supported: anything else is refused, never ignored."""


class ChatMessage(pydantic.BaseModel):
    """One turn; its content is plain text."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


class StreamOptions(pydantic.BaseModel):
    """Options of a stream."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid")

    include_usage: bool = False


class ChatRequest(pydantic.BaseModel):
    """Body of a chat call."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid")

    model: str
    """Name of the served model."""
    messages: Annotated[list[ChatMessage], pydantic.Field(min_length=1)]
    """The conversation; rendered by the chat template of the model's tokenizer."""
    max_tokens: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Tokens to generate at most; None generates until the context is full."""
    max_completion_tokens: Annotated[int, pydantic.Field(ge=1)] | None = None
    """OpenAI's newer name for the same; it wins."""
    temperature: Annotated[float, pydantic.Field(ge=0.0, le=2.0)] = 1.0
    """0 is greedy."""
    top_p: Annotated[float, pydantic.Field(gt=0.0, le=1.0)] = 1.0
    """Nucleus mass."""
    seed: int | None = None
    """Makes sampling repeatable."""
    stop: str | Annotated[list[str], pydantic.Field(max_length=4)] | None = None
    """Texts that end the reply."""
    logprobs: bool = False
    """Give the log-probability of each token of the reply."""
    top_logprobs: Annotated[int, pydantic.Field(ge=0, le=20)] = 0
    """How many of the likeliest tokens to give beside it."""
    stream: bool = False
    """Send the reply as server-sent events."""
    stream_options: StreamOptions | None = None
    """Only with ``stream``."""
    user: str | None = None
    """Accepted and not used, as the protocol has it."""


def parse_chat(raw: object) -> ChatRequest:
    """Check a decoded body.

    Raises:
        RequestError: 400 with the field and what is wrong with it.
    """
    asked = checked(raw, ChatRequest, _FIXED, inside=("messages", "stream_options"))
    if asked.top_logprobs and not asked.logprobs:
        raise RequestError(400, "top_logprobs needs logprobs: true", param="top_logprobs")
    if asked.stream_options is not None and not asked.stream:
        raise RequestError(400, "stream_options needs stream: true", param="stream_options")
    return asked


def chat_job(asked: ChatRequest, text: Text, *, context: int) -> tuple[Encoded, Job]:
    """The conversation as tokens, and the engine's job.

    Raises:
        RequestError: 400 when the model has no chat template, or the conversation does not fit the context.
    """
    try:
        rendered = text.render([{"role": each.role, "content": each.content} for each in asked.messages])
    except ValueError as error:
        raise RequestError(400, f"messages: {error}", param="messages") from error
    prompt = text.encode(rendered, special=False)
    wanted = asked.max_completion_tokens or asked.max_tokens or max(1, context - len(prompt.ids))
    if len(prompt.ids) + wanted > context:
        raise RequestError(
            400,
            f"This model's maximum context length is {context} tokens. However, you requested "
            f"{len(prompt.ids) + wanted} tokens ({len(prompt.ids)} in the messages, {wanted} in the completion).",
            param="messages",
            code="context_length_exceeded",
        )
    stops = (asked.stop,) if isinstance(asked.stop, str) else tuple(asked.stop or ())
    job = Job(
        ids=prompt.ids,
        top=asked.top_logprobs,
        max_tokens=wanted,
        temperature=asked.temperature,
        top_p=asked.top_p,
        seed=asked.seed,
        stop=tuple(stop for stop in stops if stop),
    )
    return prompt, job
