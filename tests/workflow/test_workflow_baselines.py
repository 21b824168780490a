"""Baselines: valid whatever the seed, different from each other, and executed as any workflow is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_executor import PLENTY, SUM, Model, executor
from workflow_signatures import SIGNATURES, template

from components.core.errors import ConfigError
from components.workflow.baselines import as_response, direct, hand_written, programs, random_valid
from components.workflow.broker.broker import Broker
from components.workflow.contract.outcome import Form, Plan
from components.workflow.contract.validate import validate
from components.workflow.operators import REGISTRY
from components.workflow.random_program import attribute_of, random_program
from components.workflow.run.execution import Status
from components.workflow.run.executor import Executor
from components.workflow.types import Problem

PROBLEMS = [
    SUM,
    Problem("qa", "squad2", "Who?", None, None),
    Problem("code", "mbpp", "Twice.", "twice", None),
    Problem("code", "custom_code", "Twice.", None, None),
]


def planned(source: str) -> Plan:
    plan = validate(as_response(source), SIGNATURES)
    assert isinstance(plan, Plan), (plan, source)
    assert plan.form is Form.EXACT
    return plan


@pytest.mark.parametrize("name", ["direct", "hand_written", "random_valid"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=["math", "qa", "code", "nameless"])
def test_baselines_are_valid_and_take_what_the_problem_has(problem: Problem, name: str) -> None:
    plan = planned(programs(3)[name](problem))
    assert plan.takes_entry_point <= (problem.entry_point is not None)
    if name == "direct":
        assert [use.operator for use in plan.uses] == ["Custom"]


def test_the_hand_written_ones_are_the_templates() -> None:
    for problem in PROBLEMS[:3]:
        assert hand_written(problem) == template(problem.domain)
    # Operators of the template need a function's name.
    assert hand_written(PROBLEMS[3]) == direct(PROBLEMS[3])
    with pytest.raises(ConfigError, match="'law'"):
        direct(Problem("law", "x", "", None, None))


@pytest.mark.parametrize("entry_point", [None, "twice"])
def test_five_hundred_random_programs_are_valid_and_differ(entry_point: str | None) -> None:
    problem = Problem("code", "mbpp", "Twice.", entry_point, None)
    plans = [planned(random_valid(seed, problem)) for seed in range(500)]
    # Two calls without a choice in them can come twice; more than one in ten would be a poor mixture.
    assert len({plan.digest for plan in plans}) > 450
    used = {use.operator for plan in plans for use in plan.uses}
    assert used == set(REGISTRY) - (set() if entry_point else {"CustomCodeGenerate", "Test"})
    assert all(2 <= len(plan.uses) <= 5 for plan in plans)


@given(st.integers(-(2**40), 2**40), st.booleans(), st.integers(2, 9))
def test_any_seed_gives_the_same_valid_program_again(seed: int, entry_point: bool, steps: int) -> None:
    source = random_program(seed, entry_point=entry_point, steps=steps)
    planned(source)
    assert source == random_program(seed, entry_point=entry_point, steps=steps)


WORST = {"MdEnsemble": "vote_count", "Test": "test_loop"}
"""Operators that ask as often as an input says, and by default:"""
DEFAULTS = {"MdEnsemble": 5, "Test": 3}


def questions(source: str) -> int:
    """The most questions that a program puts, by what operators' descriptions say, read from its text by hand."""
    total = 0
    for call in re.finditer(r"self\.(\w+)\(([^\n]*)", source.partition("async def __call__")[2]):
        name = next(each for each in REGISTRY if attribute_of(each) == call[1])
        given = re.search(rf"{WORST[name]}=(\d+)", call[2]) if name in WORST else None
        asks = int(given[1]) if given else DEFAULTS.get(name, 3 if name == "Programmer" else 1)
        copies = re.search(r"for _ in range\((\d)\)", call[2])
        total += asks * (int(copies[1]) if copies else 1)
    return total


@given(st.integers(0, 2**32), st.booleans(), st.integers(1, 30))
def test_no_random_program_can_pass_its_budget_of_calls(seed: int, entry_point: bool, calls: int) -> None:
    source = random_program(seed, entry_point=entry_point, calls=calls)
    planned(source)
    assert 1 <= questions(source) <= calls


def test_random_programs_use_what_they_may() -> None:
    """The bound holds some back: without it, some would ask over twenty times."""
    most = [questions(random_program(seed, entry_point=True, calls=1000)) for seed in range(300)]
    assert any(each > 20 for each in most)


def test_any_selection_of_operators_will_do() -> None:
    for name in ("Custom", "Programmer", "AnswerGenerate"):
        plan = planned(random_program(1, entry_point=False, registry={name: REGISTRY[name]}))
        assert {use.operator for use in plan.uses} == {name}


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("ScEnsemble", "sc_ensemble"), ("Test", "test"), ("CustomCodeGenerate", "custom_code_generate")],
)
def test_attributes_are_named_after_operators(name: str, attribute: str) -> None:
    assert attribute_of(name) == attribute


async def test_a_direct_answer_is_one_question() -> None:
    model = Model("\\boxed{42}")
    async with model.serve() as url, executor(url) as made:
        one = Executor(lambda problem, budget: Broker(made, budget, problem), SIGNATURES, concurrency=1)
        found = await one.run(planned(direct(SUM)), SUM, PLENTY)
        await one.close()
    assert (found.status, found.answer) == (Status.ANSWERED, "\\boxed{42}")
    (prompt,) = model.prompts
    assert prompt.endswith(SUM.text)
    assert "\\boxed{}" in prompt
