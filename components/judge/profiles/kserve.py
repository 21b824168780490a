"""KServe's Hugging Face runtime: vLLM's fields under the route /openai/v1."""

from components.judge.profiles.vllm import Vllm


class Kserve(Vllm):
    """The prefix is that of KSERVE_OPENAI_ROUTE_PREFIX, unless the endpoint has it already."""

    name = "kserve"
