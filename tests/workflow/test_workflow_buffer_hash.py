"""Which programs are one workflow, and which are not."""

import ast
import re

import pytest
from workflow_programs import PROGRAMS

from components.core.errors import ContractError
from components.workflow.buffer.normal import workflow_hash

BASE = '''
import asyncio


class Workflow:
    """Asks twice."""

    TIMES = 2

    def __init__(self, name, llm_config, dataset):
        self.llm = create_llm(llm_config)
        self.custom = operator.Custom(self.llm)

    async def __call__(self, problem):
        # The first reply is a draft.
        draft = await self.custom(input=problem, instruction="Think.")
        found = [line for line in draft["response"].split("\\n") if line]
        return self.last(found), self.llm.cost

    def last(self, lines):
        """The last one."""
        return lines[-1] if len(lines) > self.TIMES else None
'''


def changed(old: str, new: str) -> str:
    assert re.search(old, BASE), old
    return re.sub(old, new, BASE)


SAME = {
    "a comment": changed(r" *# .*\n", ""),
    "a docstring": changed('"""Asks twice."""', '"""Something else."""'),
    "no docstring": changed('        """The last one."""\n', ""),
    "layout": changed(r"\n\n", "\n\n\n"),
    "quotes": changed('"Think."', "'Think.'"),
    "a local name": changed(r"\bdraft\b", "reply"),
    "a name of a comprehension": changed(r"\bline\b", "row"),
    "an attribute of self": changed(r"\bself\.custom\b", "self.ask"),
    "a method": changed(r"\blast\b", "final"),
    "an argument": changed(r"\blines\b", "texts"),
    "a constant of the class": changed(r"\bTIMES\b", "COUNT"),
    "a text that does nothing": changed(
        r"        return self\.last", "        'Now return.'\n        return self.last"
    ),
}
OTHER = {
    "an instruction": changed('"Think."', '"Think!"'),
    "a number": changed("TIMES = 2", "TIMES = 3"),
    "an operator": changed(r"operator\.Custom", "operator.AnswerGenerate"),
    "an argument of an operator": changed("input=problem, ", ""),
    "a key": changed(r'\["response"\]', '["answer"]'),
    "a method of texts": changed(r"\.split\(", ".rsplit("),
    "a function of Python": changed(r"\blen\b", "id"),
    "a type": changed("TIMES = 2", "TIMES = 2.0"),
    "which of two names": changed(r"self\.last\(found\)", "self.last(draft)"),
    "no await": changed("await ", ""),
}


@pytest.mark.parametrize("name", SAME)
def test_wording_does_not_count(name: str) -> None:
    assert ast.unparse(ast.parse(SAME[name]))
    assert workflow_hash(SAME[name]) == workflow_hash(BASE)


@pytest.mark.parametrize("name", OTHER)
def test_what_it_does_counts(name: str) -> None:
    assert workflow_hash(OTHER[name]) != workflow_hash(BASE)


def test_swapped_names_are_not_taken_for_chosen_ones() -> None:
    """Where a name is also said in a call, or by the class, another one means something else."""

    def helper(first: str, second: str) -> str:
        return f"def f({first}, {second}):\n    return {first} - {second}\n\nx = f(a=1, b=2)\n"

    assert workflow_hash(helper("a", "b")) != workflow_hash(helper("b", "a"))

    def constants(first: str, second: str) -> str:
        return f"class Workflow:\n    {first} = 'a'\n    {second} = 'b'\n\n    def f(self):\n        return self.A\n"

    assert workflow_hash(constants("A", "B")) != workflow_hash(constants("B", "A"))


@pytest.mark.parametrize(
    "text",
    ["(lambda self: self.{0}())('aB')", "[self.{0}() for self in 'aB']", "[self.{0}() for x in 'aB' if (self := x)]"],
)
def test_what_is_called_self_and_is_another_thing_has_names_of_its_own(text: str) -> None:
    def program(name: str) -> str:
        return f"{name} = 1\nclass Workflow:\n    def f(self):\n        self.g = {text.format(name)}\n"

    # "AB" and "ab": the names are bound by the program, and are methods of texts as well.
    assert workflow_hash(program("upper")) != workflow_hash(program("lower"))


def test_programs_of_the_tests_are_different_workflows_and_survive_reprinting() -> None:
    hashes = {name: workflow_hash(source) for name, source in PROGRAMS.items()}
    assert len(set(hashes.values())) == len(PROGRAMS)
    for name, source in PROGRAMS.items():
        assert workflow_hash(ast.unparse(ast.parse(source))) == hashes[name]


@pytest.mark.parametrize("text", ["class :", "x = '\0'", "(" * 5000], ids=["syntax", "nul", "deep"])
def test_what_is_no_python_is_refused(text: str) -> None:
    with pytest.raises(ContractError, match="no Python"):
        workflow_hash(text)


def test_a_sum_that_is_too_deep_for_us_is_refused() -> None:
    with pytest.raises(ContractError, match="no Python"):
        workflow_hash("x = " + " + ".join(["1"] * 4000))
