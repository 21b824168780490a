"""The request body of /v1/completions, checked field by field."""

import reprlib
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final, TypeVar

import pydantic

from components.judge.server.jobs import Job
from components.judge.server.text import Encoded, Text

Ids = Annotated[list[int], pydantic.Field(min_length=1)]

_FIXED: Final[Mapping[str, Any]] = {
    "n": 1,
    "best_of": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "suffix": None,
    "logit_bias": None,
    "stream": False,
    "stream_options": None,
}
"""Standard fields of which only the neutral value is supported: anything else is refused, never ignored."""


class RequestError(Exception):
    """A request that cannot be served, as an OpenAI error object.

    Args:
        status: HTTP status.
        message: what is wrong.
        param: the field that it concerns.
        code: machine-readable kind.
    """

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {
            "error": {
                "message": message,
                "type": "NotFoundError" if status == 404 else "invalid_request_error",
                "param": param,
                "code": code or status,
            }
        }


class CompletionRequest(pydantic.BaseModel):
    """Body of a legacy completions call."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid")

    model: str
    """Name of the served model."""
    prompt: Annotated[str, pydantic.Field(min_length=1)] | Ids | list[Ids] | list[str]
    """A text, several texts, token ids, or several lists of token ids."""
    max_tokens: Annotated[int, pydantic.Field(ge=0)] = 16
    """Tokens to generate at most."""
    echo: bool = False
    """Give the prompt back in front of the completion, with its log-probabilities if those are asked for."""
    logprobs: Annotated[int, pydantic.Field(ge=0, le=5)] | None = None
    """How many likeliest tokens to report beside each token's own log-probability; None for no log-probabilities."""
    temperature: Annotated[float, pydantic.Field(ge=0.0, le=2.0)] = 1.0
    """0 is greedy."""
    top_p: Annotated[float, pydantic.Field(gt=0.0, le=1.0)] = 1.0
    """Nucleus mass."""
    seed: int | None = None
    """Makes sampling repeatable."""
    stop: str | Annotated[list[str], pydantic.Field(max_length=4)] | None = None
    """Texts that end the completion."""
    user: str | None = None
    """Accepted and not used, as the protocol has it."""
    ignore_eos: bool = False
    """vLLM's field: go on behind the end token."""
    add_special_tokens: bool = True
    """vLLM's field: let the tokenizer add its own start token."""
    logprobs_from: Annotated[int, pydantic.Field(ge=0)] | list[Annotated[int, pydantic.Field(ge=0)]] | None = None
    """Only here: log-probabilities are wanted from this place of the prompt on (a character offset for text, a token
    index for ids; a list gives one a prompt). Earlier tokens get null, which lets the server reuse their keys and
    values. Announced in /v1/models as ``gavel.logprobs_from``."""


Body = TypeVar("Body", bound=pydantic.BaseModel)


def parse(raw: object) -> CompletionRequest:
    """Check a decoded body.

    Raises:
        RequestError: see :func:`checked`.
    """
    return checked(raw, CompletionRequest, _FIXED)


def checked(raw: object, kind: type[Body], fixed: Mapping[str, Any], *, inside: Collection[str] = frozenset()) -> Body:
    """A decoded body as a request of that kind.

    Args:
        raw: the body.
        kind: its model.
        fixed: fields that may have this value alone.
        inside: fields of which an error names the place within.

    Raises:
        RequestError: 400 with the field and what is wrong with it.
    """
    if not isinstance(raw, dict):
        raise RequestError(400, "the body must be a JSON object")
    for name, neutral in fixed.items():
        if name in raw and raw[name] is not None and raw[name] != neutral:
            asked = f"{name}={reprlib.repr(raw[name])}"
            raise RequestError(400, f"{asked} is not supported by this server; only {neutral!r} is", param=name)
    try:
        return kind.model_validate({key: value for key, value in raw.items() if key not in fixed})
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"]]
        field = ".".join(place) if place[0] in inside else place[0]
        if first["type"] == "extra_forbidden":
            raise RequestError(400, f"Unrecognized request argument supplied: {field}", param=field) from error
        raise RequestError(400, f"{field}: {first['msg']}", param=field) from error


def encode(request: CompletionRequest, text: Text, *, context: int, vocabulary: int) -> list[Encoded]:
    """Tokenize the prompts and check them against the model.

    Raises:
        RequestError: 400 for an empty prompt, a token outside the vocabulary, or more tokens than the context has.
    """
    prompts: list[Any]
    if isinstance(request.prompt, str) or (request.prompt and isinstance(request.prompt[0], int)):
        prompts = [request.prompt]
    else:
        prompts = list(request.prompt)
    if not prompts:
        raise RequestError(400, "prompt: the list is empty", param="prompt")
    found = []
    for number, prompt in enumerate(prompts):
        if isinstance(prompt, str):
            encoded = text.encode(prompt, special=request.add_special_tokens)
        else:
            wrong = [index for index in prompt if not 0 <= index < vocabulary]
            if wrong:
                raise RequestError(
                    400,
                    f"prompt {number}: token id {wrong[0]} is outside the vocabulary of {vocabulary}",
                    param="prompt",
                )
            encoded = text.from_ids(tuple(prompt))
        if not encoded.ids:
            raise RequestError(400, f"prompt {number} is empty", param="prompt")
        if len(encoded.ids) + request.max_tokens > context:
            raise RequestError(
                400,
                f"This model's maximum context length is {context} tokens. However, you requested "
                f"{len(encoded.ids) + request.max_tokens} tokens ({len(encoded.ids)} in prompt {number}, "
                f"{request.max_tokens} in the completion).",
                param="prompt",
                code="context_length_exceeded",
            )
        found.append(encoded)
    return found


def to_jobs(request: CompletionRequest, prompts: list[Encoded]) -> list[Job]:
    """The engine's jobs, one a prompt."""
    starts = request.logprobs_from
    if isinstance(starts, list) and len(starts) != len(prompts):
        raise RequestError(
            400, f"logprobs_from has {len(starts)} entries for {len(prompts)} prompts", param="logprobs_from"
        )
    by_text = isinstance(request.prompt, str) or isinstance(request.prompt[0], str)
    stops = (request.stop,) if isinstance(request.stop, str) else tuple(request.stop or ())
    jobs = []
    for number, prompt in enumerate(prompts):
        score_from: int | None = None
        if request.echo and request.logprobs is not None:
            place = starts[number] if isinstance(starts, list) else starts
            score_from = 0 if place is None else prompt.first_token_after(place) if by_text else place
        jobs.append(
            Job(
                ids=prompt.ids,
                score_from=score_from,
                top=request.logprobs or 0,
                max_tokens=request.max_tokens,
                temperature=request.temperature if request.max_tokens else 0.0,
                top_p=request.top_p if request.max_tokens else 1.0,
                seed=request.seed if request.max_tokens else None,
                stop=tuple(stop for stop in stops if stop),
                ignore_eos=request.ignore_eos,
            )
        )
    return jobs
