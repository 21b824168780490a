"""The evaluation on the task sets of a mixture: which of them, and how they are answered."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import Conflict, Count, Spec, Tokens

TaskSet = Literal[
    "gsm8k", "math", "squad2", "hotpotqa", "humaneval", "mbpp", "custom_math", "custom_qa", "custom_code", "mixed"
]


class DomainTokens(Spec):
    """Longest responses by domain."""

    math: Tokens = 1024
    """For mathematics. Unit: tokens. Default: 1024."""
    qa: Tokens = 128
    """For question answering. Unit: tokens. Default: 128."""
    code: Tokens = 768
    """For programs. Unit: tokens. Default: 768."""


class DomainSamples(Spec):
    """Responses for each task by domain; a task then counts by their mean."""

    math: Count = 1
    """For mathematics. Unit: responses. Default: 1."""
    qa: Count = 1
    """For question answering. Unit: responses. Default: 1."""
    code: Count = 1
    """For code: the n of pass@k. Unit: responses. Default: 1."""


class TasksSpec(Spec):
    """Official metrics on the test tables that prepare-data made of a mixture."""

    sets: tuple[TaskSet, ...] = ()
    """The sets that are answered, ``mixed`` being the test part of the mixture; empty takes all that there are.
    Unit: none. Default: []."""
    limit: Count | None = None
    """Takes at most so many tasks of a set, chosen by the hash of their ids; null takes all. Unit: tasks.
    Default: null."""
    base: bool = True
    """Whether the policy before training answers as well, for the paired comparison. Unit: none. Default: true."""
    temperature: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Sampling temperature; 0 takes the likeliest token. Unit: none. Default: 0.0."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Smallest probability mass that sampling keeps; 1 keeps everything. Unit: fraction. Default: 1.0."""
    samples: DomainSamples = DomainSamples()
    """Responses for each task. Unit: responses. Default: {"math": 1, "qa": 1, "code": 1}."""
    ks: Annotated[tuple[Count, ...], Field(min_length=1)] = (1,)
    """The k of pass@k for code; each is at most samples.code. Unit: none. Default: [1]."""
    max_response_tokens: DomainTokens = DomainTokens()
    """Longest responses. Unit: tokens. Default: {"math": 1024, "qa": 128, "code": 768}."""

    def conflicts(self) -> Iterable[Conflict]:
        if len(set(self.sets)) < len(self.sets):
            yield Conflict("sets", f"{', '.join(self.sets)} names a set twice", "name each set once")
        if len(set(self.ks)) < len(self.ks):
            yield Conflict("ks", f"{', '.join(map(str, self.ks))} has a number twice", "give each k once")
        if max(self.ks) > self.samples.code:
            yield Conflict(
                "ks",
                f"pass@{max(self.ks)} needs as many responses, and samples.code is {self.samples.code}",
                f"set samples.code to at least {max(self.ks)}, or use smaller ks",
            )
        for domain, samples in self.samples.model_dump().items():
            if self.temperature == 0 and samples > 1:
                yield Conflict(
                    f"samples.{domain}",
                    f"{samples} samples at temperature 0 are all the same",
                    f"set samples.{domain}: 1, or a temperature above 0",
                )
