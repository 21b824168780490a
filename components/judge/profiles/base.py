"""What all chat servers share, and where they differ."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from components.judge.calls import Call

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_REFUSALS = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "datainspectionfailed",
    }
)
"""Error codes of content filters. Gateways hand them on under any profile."""


@dataclasses.dataclass(frozen=True)
class Profile:
    """The plain OpenAI chat protocol. Subclasses add what their servers accept beyond it.

    Attributes:
        prefix: path in front of ``/v1``, as the endpoint needs it; "" for none.
    """

    prefix: str = ""

    name: ClassVar[str] = "generic"
    length_field: ClassVar[str] = "max_tokens"
    """How the server calls the limit of a reply's length."""
    most_alternatives: ClassVar[int] = 20
    """Alternatives that may be asked for at each token of a reply."""
    usage_in_streams: ClassVar[bool] = False
    """Whether ``stream_options.include_usage`` is accepted."""
    echoes: ClassVar[bool] = True
    """Whether /v1/completions with echo is worth a question."""

    @property
    def chat_route(self) -> str:
        """Path of chat completions, behind the endpoint."""
        return f"{self.prefix}/v1/chat/completions"

    @property
    def completions_route(self) -> str:
        """Path of legacy completions, behind the endpoint."""
        return f"{self.prefix}/v1/completions"

    @property
    def models_route(self) -> str:
        """Path of the list of models, behind the endpoint."""
        return f"{self.prefix}/v1/models"

    @property
    def tokenize_route(self) -> str | None:
        """Path that counts a text's tokens as vLLM does, behind the endpoint; None where the server has none."""
        return None

    def streams(self, spec: "JudgeSpec") -> bool:
        """Whether calls to this judge are streamed."""
        return spec.stream == "always" or (spec.stream == "auto" and self.only_streams(spec))

    def only_streams(self, spec: "JudgeSpec") -> bool:
        """Whether the model refuses calls that are not streamed."""
        return False

    def body(self, call: Call, spec: "JudgeSpec") -> dict[str, Any]:
        """The request body: standard fields, and those of the call that this provider accepts; nothing else."""
        made: dict[str, Any] = {
            "model": spec.model_name,
            "messages": [{"role": each.role, "content": each.content} for each in call.messages],
            self.length_field: call.max_tokens,
        }
        if self.takes_temperature(spec):
            made["temperature"] = call.temperature
        if call.top_logprobs and spec.answer_logprobs and self.takes_logprobs(spec):
            made["logprobs"] = True
            made["top_logprobs"] = min(call.top_logprobs, self.most_alternatives)
        if call.schema is not None:
            made.update(self.structure(call, spec))
        made.update(self.thinking(spec))
        if self.streams(spec):
            made["stream"] = True
            if self.usage_in_streams:
                made["stream_options"] = {"include_usage": True}
        return made

    def takes_temperature(self, spec: "JudgeSpec") -> bool:
        """Whether the model accepts a temperature."""
        return True

    def takes_logprobs(self, spec: "JudgeSpec") -> bool:
        """Whether the model accepts a wish for log-probabilities of its reply."""
        return True

    def structure(self, call: Call, spec: "JudgeSpec") -> dict[str, Any]:
        """Fields that hold the reply to ``call.schema``; none where the server cannot."""
        return {}

    def thinking(self, spec: "JudgeSpec") -> dict[str, Any]:
        """Fields that switch reasoning on or off; none where there is no switch."""
        return {}

    def refused(self, body: bytes | None) -> bool:
        """Whether an error's body says that a content filter stopped the call. Asking again would change nothing."""
        return body is not None and not _REFUSALS.isdisjoint(error_codes(body))


def error_codes(body: bytes) -> set[str]:
    """Codes and types that an error body names, in lower case; empty if it is not of a known shape."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        return set()
    found: set[str] = set()
    for _ in range(3):
        if not isinstance(data, dict):
            break
        found.update(str(data[key]).lower() for key in ("code", "type") if isinstance(data.get(key), str))
        data = data.get("error") or data.get("innererror") or data.get("inner_error")
    return found


def schema_format(call: Call, *, strict: bool) -> dict[str, Any]:
    """``response_format`` for a JSON schema, as OpenAI defines it."""
    inner: dict[str, Any] = {"name": "verdicts", "schema": call.schema}
    if strict:
        inner["strict"] = True
    return {"response_format": {"type": "json_schema", "json_schema": inner}}
