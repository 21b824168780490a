"""vLLM (fields of its ChatCompletionRequest, vLLM 0.24)."""

from typing import TYPE_CHECKING, Any

from components.judge.calls import Call
from components.judge.profiles.base import Profile, schema_format

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


class Vllm(Profile):
    """JSON schemas bind the decoder; the chat template switches reasoning."""

    name = "vllm"
    usage_in_streams = True

    @property
    def tokenize_route(self) -> str | None:
        """See :class:`components.judge.profiles.base.Profile`. It lies beside ``/v1``, not below."""
        return f"{self.prefix}/tokenize"

    def structure(self, call: Call, spec: "JudgeSpec") -> dict[str, Any]:
        """See :class:`components.judge.profiles.base.Profile`."""
        return schema_format(call, strict=False)

    def thinking(self, spec: "JudgeSpec") -> dict[str, Any]:
        """See :class:`components.judge.profiles.base.Profile`."""
        return {} if spec.thinking is None else {"chat_template_kwargs": {"enable_thinking": spec.thinking}}
