"""Layer 1: what the policy is told, and the place for examples."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workflow_signatures import SIGNATURES, fenced, template

from components.core.errors import ContractError
from components.workflow.contract.extract import extract
from components.workflow.contract.names import GIVEN, IMPORTS
from components.workflow.contract.outcome import Invalid, Plan
from components.workflow.contract.validate import validate
from components.workflow.operators import REGISTRY
from components.workflow.prompts import layer1
from components.workflow.prompts.layer1 import Example, policy_prompt, skeleton, with_examples
from components.workflow.types import Problem

SUM = Problem("math", "gsm8k", "What is 40 + 2?", None, None)
HEAD = Problem("code", "humaneval", "def twice(x):\n", "twice", "assert twice(1) == 2")
EXAMPLE = Example("What is 1 + 1?", template("math"), 0.934)
texts = st.text(st.characters(codec="utf-8"), max_size=200) | st.sampled_from(
    ["{problem}", "# Examples\n\nThere are no examples yet.\n", "{examples} {operators}", "```\n\\g<0>", "$\\boxed{2}$"]
)
examples = st.lists(st.builds(Example, texts, texts, st.floats(-1, 1)), max_size=3)


@pytest.mark.parametrize("domain", ["math", "code", "qa"])
def test_operators_rules_and_advice_are_told(domain: str) -> None:
    told = policy_prompt(Problem(domain, "custom", "Is it?", None, None))
    for each in REGISTRY.values():
        assert each.describe() in told
    assert len(REGISTRY) == 10
    for name in (*GIVEN, *IMPORTS):
        assert re.search(rf"\b{re.escape(name)}\b", told)
    advice = {each: layer1.FOLDER.joinpath("guidance", f"{each}.txt").read_text() for each in ("math", "code", "qa")}
    assert [each for each in advice if advice[each].strip() in told] == [domain]
    assert told.index("# Problem") > told.index("# Examples") > told.index("# Rules")


def test_an_unknown_domain_is_refused() -> None:
    with pytest.raises(ContractError, match="'law'"):
        policy_prompt(Problem("law", "x", "Is it?", None, None))


@pytest.mark.parametrize("entry_point", [None, "twice"])
def test_the_form_that_is_shown_is_valid(entry_point: str | None) -> None:
    source = skeleton(entry_point=entry_point is not None)
    assert source in policy_prompt(Problem("code", "mbpp", "Twice.", entry_point, None))
    plan = validate(fenced(source), SIGNATURES)
    assert isinstance(plan, Plan)
    assert plan.takes_entry_point is (entry_point is not None)


def test_the_name_of_the_function_is_told_and_the_tests_are_not() -> None:
    told = policy_prompt(HEAD)
    assert "entry_point holds 'twice'" in told
    assert "assert twice(1) == 2" not in told
    assert "entry_point holds" not in policy_prompt(SUM)


@given(texts)
def test_the_problem_stands_as_it_is(text: str) -> None:
    told = policy_prompt(Problem("qa", "squad2", text, None, None))
    assert text in told
    plain = policy_prompt(Problem("qa", "squad2", "", None, None))
    assert len(told) == len(plain) + len(text)


@given(texts, examples)
def test_examples_put_in_later_are_those_put_in_at_once(text: str, found: list[Example]) -> None:
    problem = Problem("math", "math", text, None, None)
    empty = policy_prompt(problem)
    assert with_examples(empty, found) == policy_prompt(problem, found)
    assert with_examples(empty, []) == empty
    behind = f"holds:\n\n{text}\n\n# Your answer"
    assert behind in with_examples(empty, found)


def test_examples_have_their_problem_program_and_reward() -> None:
    told = policy_prompt(HEAD, [EXAMPLE, Example("What is 2 + 2?", "class Workflow:\n    pass", 0.5)])
    assert "There are no examples yet" not in told
    assert "Example 1, reward 0.93. Its problem:\n\nWhat is 1 + 1?\n\n```python\n" in told
    assert EXAMPLE.workflow.strip() in told
    assert told.index("Example 1") < told.index("Example 2, reward 0.50") < told.index("# Problem")


def test_a_program_with_fences_stays_in_its_own() -> None:
    source = 'TICKS = """\n```\n````\n"""\n\n\n' + template("qa")
    told = policy_prompt(SUM, [Example("Why?", source, 1.0)])
    begin = told.index("Why?") + len("Why?\n\n")
    block = told[begin : told.index("# Problem")]
    assert block.startswith("`````python\n")
    assert extract(block).source.strip() == source.strip()


def test_of_a_long_problem_both_ends_are_shown() -> None:
    long = "First. " + "word " * 2000 + "Question: who?"
    told = policy_prompt(SUM, [Example(long, "class Workflow: ...", 1.0)])
    assert "First. word" in told
    assert "\n[...]\n" in told
    assert "Question: who?" in told
    assert len(told) - len(policy_prompt(SUM)) < 1300


def test_a_prompt_without_the_place_is_refused() -> None:
    with pytest.raises(ContractError, match="no place"):
        with_examples("Write a workflow.", [EXAMPLE])
    with pytest.raises(ContractError, match="no place"):
        with_examples(policy_prompt(SUM, [EXAMPLE]), [EXAMPLE])


def test_a_new_operator_is_told_and_makes_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shout:
        """As much of an operator as a prompt needs."""

        @staticmethod
        def describe() -> str:
            return 'Shout(input: str) -> {"loud": str}\n  The model shouts {this}.'

    before = layer1.version()
    caches = (layer1.version, layer1._of_domain)
    for each in caches:
        each.cache_clear()
    monkeypatch.setattr(layer1, "REGISTRY", {**REGISTRY, "Shout": Shout})
    try:
        assert Shout.describe() in policy_prompt(SUM)
        assert layer1.version() != before
    finally:
        for each in caches:
            each.cache_clear()
    monkeypatch.undo()
    assert layer1.version() == before


def test_a_prompt_is_no_workflow() -> None:
    """A policy that repeats what it reads earns nothing by it: its text is refused, or it is the empty form."""
    told = policy_prompt(SUM, [EXAMPLE])
    assert isinstance(validate(told.partition("# Form")[0], SIGNATURES), Invalid)
