"""OpenAI. Its reasoning models take another name for the length, no temperature and no log-probabilities."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from components.judge.calls import Call
from components.judge.profiles.base import Profile, error_codes, schema_format

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_REASONING = re.compile(r"^(ft:)?(o\d|gpt-5(?!-chat))")
_SCHEMAS = re.compile(r"^(ft:)?(gpt-4o(?!-2024-05-13)|gpt-4\.\d|gpt-5|o1(?!-(mini|preview))|o[34])")


class OpenAi(Profile):
    """``max_completion_tokens`` is accepted by all models, ``max_tokens`` only by the older ones."""

    name = "openai"
    length_field = "max_completion_tokens"
    usage_in_streams = True
    echoes = False

    def takes_temperature(self, spec: "JudgeSpec") -> bool:
        """Reasoning models answer 400 to any temperature but their default."""
        return not _REASONING.match(spec.model_name)

    def takes_logprobs(self, spec: "JudgeSpec") -> bool:
        """Reasoning models answer 400."""
        return not _REASONING.match(spec.model_name)

    def structure(self, call: Call, spec: "JudgeSpec") -> dict[str, Any]:
        """Strict where the schema is of the kind that strict mode takes; older models answer 400 to any schema."""
        if not _SCHEMAS.match(spec.model_name):
            return {}
        return schema_format(call, strict=_closed(call.schema))

    def refused(self, body: bytes | None) -> bool:
        """Reasoning models call a flagged prompt invalid."""
        return super().refused(body) or (body is not None and "invalid_prompt" in error_codes(body))


def _closed(schema: Any) -> bool:
    """Whether every object lists all its properties as required and allows no others, as strict mode demands."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            properties = schema.get("properties", {})
            if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
                return False
        return all(_closed(value) for value in schema.values())
    if isinstance(schema, list | tuple):
        return all(_closed(value) for value in schema)
    return True
