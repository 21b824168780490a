"""DashScope (Alibaba Cloud Model Studio) in its OpenAI-compatible mode.

Models that always think, and open Qwen3 models that think unless told not to, answer 400 to a call that is not
streamed; a JSON mode goes with neither thinking nor a prompt that does not name JSON; a thinking switch is for hybrid
models alone (Model Studio's pages on error messages, deep thinking and structured output).
"""

import re
from typing import TYPE_CHECKING, Any

from components.judge.calls import Call
from components.judge.profiles.base import Profile

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_ALWAYS_THINKS = re.compile(r"^(qwq|qvq)(-|$)|-thinking(-|$)")
_THINKS_UNLESS_TOLD = re.compile(r"^qwen3(\.\d+)?-(?!max|coder)(?!.*instruct)")
_JSON_MODE = re.compile(r"^(qwen-(max|plus|flash|turbo)|qwen3|qwen2\.5-(?!math|coder))")


class DashScope(Profile):
    """Streams whatever may refuse not to be streamed."""

    name = "dashscope"
    most_alternatives = 5
    usage_in_streams = True
    echoes = False

    def only_streams(self, spec: "JudgeSpec") -> bool:
        """See :class:`components.judge.profiles.base.Profile`."""
        if _ALWAYS_THINKS.search(spec.model_name):
            return True
        return spec.thinking is True or (
            spec.thinking is None and _THINKS_UNLESS_TOLD.match(spec.model_name) is not None
        )

    def takes_logprobs(self, spec: "JudgeSpec") -> bool:
        """Models that always think give none."""
        return _ALWAYS_THINKS.search(spec.model_name) is None

    def structure(self, call: Call, spec: "JudgeSpec") -> dict[str, Any]:
        """JSON mode without a schema; a schema is taken by few models, and which ones changes."""
        named = any("json" in each.content.lower() for each in call.messages if each.role != "assistant")
        if not named or self.only_streams(spec) or not _JSON_MODE.match(spec.model_name):
            return {}
        return {"response_format": {"type": "json_object"}}

    def thinking(self, spec: "JudgeSpec") -> dict[str, Any]:
        """See :class:`components.judge.profiles.base.Profile`."""
        if spec.thinking is None or _ALWAYS_THINKS.search(spec.model_name):
            return {}
        return {"enable_thinking": spec.thinking}
