"""Workflows to compare a policy with: a direct answer, one written by hand, and a random one that is valid."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from components.core.errors import ConfigError
from components.workflow.random_program import CALLS, random_program
from components.workflow.types import Problem

_TEMPLATES: Final = Path(__file__).parent / "templates"
_DIRECT: Final = """\
class Workflow:
    def __init__(self, name, llm_config, dataset):
        self.llm = create_llm(llm_config)
        self.custom = operator.Custom(self.llm)

    async def __call__(self, problem{parameter}):
        reply = await self.custom(input=problem, instruction={instruction!r})
        return reply["response"], self.llm.cost
"""
_INSTRUCTIONS: Final[Mapping[str, str]] = {
    "math": "Solve the problem, and put the final answer into \\boxed{}.\n\n",
    "qa": "Answer the question with the answer alone.\n\n",
    "code": "Write the whole program that is asked for, imports included, in one block between ```python and ```.\n\n",
}


def direct(problem: Problem) -> str:
    """Source of a workflow that asks the executor model once."""
    parameter = "" if problem.entry_point is None else ", entry_point"
    return _DIRECT.format(parameter=parameter, instruction=_of_domain(problem.domain, _INSTRUCTIONS))


def hand_written(problem: Problem) -> str:
    """Source of the template of the problem's domain. Where no function is named, a direct answer stands in for the
    template of code, whose operators need a name."""
    if problem.domain == "code" and problem.entry_point is None:
        return direct(problem)
    path = _TEMPLATES / f"{problem.domain}.txt"
    _of_domain(problem.domain, _INSTRUCTIONS)
    return path.read_text(encoding="utf-8")


def random_valid(seed: int, problem: Problem, calls: int = CALLS) -> str:
    """Source of a random workflow that is valid and within its budget of calls, whatever it is worth.

    Args:
        seed: equal ones give equal programs for problems of one domain, with or without a function's name alike.
        problem: of it the domain and whether it names a function matter.
        calls: of the budget.
    """
    return random_program(seed, entry_point=problem.entry_point is not None, calls=calls)


def programs(seed: int = 0) -> Mapping[str, Callable[[Problem], str]]:
    """The baselines by name: ``direct``, ``hand_written`` and ``random_valid``.

    Args:
        seed: of the random ones.
    """

    def drawn(problem: Problem) -> str:
        return random_valid(seed, problem)

    return MappingProxyType({"direct": direct, "hand_written": hand_written, "random_valid": drawn})


def as_response(source: str) -> str:
    """A program as a policy answers with it: one fenced block and nothing else. None of ours holds a fence on a line of
    its own."""
    return f"```python\n{source.rstrip()}\n```"


def _of_domain(domain: str, texts: Mapping[str, str]) -> str:
    if domain not in texts:
        raise ConfigError(f"there is no workflow for the domain {domain!r}", remedy=f"one of {', '.join(texts)}")
    return texts[domain]
