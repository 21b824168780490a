"""Layer 1: the user's turn that asks the policy for a workflow."""

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from components.core.errors import ContractError
from components.core.identity import digest
from components.workflow.contract.names import GIVEN, IMPORTS
from components.workflow.operators import REGISTRY
from components.workflow.operators.base.prompt import Prompt
from components.workflow.types import Problem

FOLDER: Final = Path(__file__).parent
_LONGEST: Final = 800
"""Characters of an example's problem; of a longer one begin and end are shown, where what is asked stands."""
_TICKS: Final = re.compile("`{3,}")


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """An earlier workflow that was right.

    Attributes:
        problem: what it was called with.
        workflow: its program.
        reward: what it got.
    """

    problem: str
    workflow: str
    reward: float


def policy_prompt(problem: Problem, examples: Sequence[Example] = ()) -> str:
    """The user's turn for a problem.

    Args:
        problem: of it the text, the domain, the data set, and whether it names a function are told.
        examples: the most alike first; without any, the place for them is kept for :func:`with_examples`.
    """
    call = "" if problem.entry_point is None else f" The parameter entry_point holds {problem.entry_point!r}."
    fixed = _of_domain(problem.domain, problem.entry_point is not None)
    made = Prompt(_read("layer1.txt"))({**fixed, "dataset": problem.dataset, "call": call, "problem": problem.text})
    return with_examples(made, examples)


def with_examples(prompt: str, examples: Sequence[Example]) -> str:
    """A prompt that was made without examples, with them in their place.

    Args:
        prompt: as :func:`policy_prompt` makes it.
        examples: the most alike first; none leave the prompt as it is.

    Raises:
        ContractError: the prompt has no place for examples.
    """
    # The first one is ours, since all that comes from elsewhere stands behind it.
    before, mark, behind = prompt.partition(_place())
    if not mark:
        raise ContractError(
            "the prompt has no place for examples", remedy="prepare the data anew: an older version made this prompt"
        )
    if not examples:
        return prompt
    shown = [_shown(number, each) for number, each in enumerate(examples, 1)]
    told = "\n\n".join([_read("examples.txt"), *shown])
    return f"{before}# Examples\n\n{told}\n{behind}"


@functools.cache
def version() -> str:
    """Hash over everything that these prompts are made of but the problem, hexadecimal."""
    files = sorted(path for path in FOLDER.rglob("*.txt") if "enhancements" not in path.relative_to(FOLDER).parts)
    return digest(
        {
            "files": {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in files},
            "operators": {name: each.describe() for name, each in REGISTRY.items()},
            "names": [list(GIVEN), sorted(IMPORTS)],
        }
    )


@functools.cache
def _of_domain(domain: str, entry_point: bool) -> Mapping[str, str]:
    """What does not depend on the problem."""
    path = FOLDER / "guidance" / f"{domain}.txt"
    if not path.is_file():
        raise ContractError(f"there is no advice for the domain {domain!r}", remedy="one of math, code and qa")
    rules = Prompt(_read("rules.txt"))({"given": _listed(GIVEN), "imports": ", ".join(sorted(IMPORTS))})
    return {
        "operators": "\n\n".join(each.describe() for each in REGISTRY.values()),
        "skeleton": skeleton(entry_point=entry_point),
        "rules": rules,
        "guidance": _read(f"guidance/{domain}.txt"),
        "examples": _read("no_examples.txt"),
        "domain": domain,
    }


def skeleton(*, entry_point: bool) -> str:
    """The smallest program that keeps the contract."""
    return _read("skeleton.txt").replace("{parameter}", ", entry_point" if entry_point else "")


def _place() -> str:
    return f"# Examples\n\n{_read('no_examples.txt')}\n"


def _shown(number: int, example: Example) -> str:
    workflow = example.workflow.strip("\n")
    fence = "`" * (1 + max([2, *map(len, _TICKS.findall(workflow))]))
    values = {
        "number": str(number),
        "reward": f"{example.reward:.2f}",
        "problem": _shortened(example.problem.strip()),
        "fence": fence,
        "workflow": workflow,
    }
    return Prompt(_read("example.txt"))(values)


def _shortened(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half].rstrip()}\n[...]\n{text[-half:].lstrip()}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


@functools.cache
def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8").strip("\n")
