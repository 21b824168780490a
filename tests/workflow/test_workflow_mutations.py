"""Five hundred broken workflows: each is refused for the reason that it was broken for, and none earns anything."""

import random

import pytest
from workflow_mutations import MUTATIONS
from workflow_programs import PROGRAMS
from workflow_signatures import SIGNATURES, fenced

from components.workflow.contract.outcome import Invalid, InvalidReason, Plan
from components.workflow.contract.validate import validate
from components.workflow.ladders import load_workflow_reward
from components.workflow.reward import Attempt, workflow_reward

TRIES = 500


def broken() -> list[tuple[str, InvalidReason, str]]:
    found: list[tuple[str, InvalidReason, str]] = []
    number = 0
    while len(found) < TRIES:
        chance = random.Random(number)
        name, reason, mutation = MUTATIONS[number % len(MUTATIONS)]
        base = chance.choice(sorted(PROGRAMS))
        response = mutation(PROGRAMS[base], chance)
        if response is not None:
            found.append((f"{number}-{name}-{base}", reason, response))
        number += 1
    return found


BROKEN = broken()


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_is_broken_was_good_before(name: str) -> None:
    assert isinstance(validate(fenced(PROGRAMS[name]), SIGNATURES), Plan)


def test_every_reason_is_among_the_mutations() -> None:
    assert {reason for _, reason, _ in BROKEN} == set(InvalidReason)


def test_each_is_refused_for_its_reason_and_earns_the_lowest_value() -> None:
    spec = load_workflow_reward("workflow")
    wrong = []
    for name, reason, response in BROKEN:
        found = validate(response, SIGNATURES)
        if not isinstance(found, Invalid) or found.reason is not reason:
            wrong.append((name, reason, found, response))
            continue
        assert found.detail
        reward = workflow_reward(spec, Attempt("math", response, found))
        assert (reward.value, reward.parts, reward.reason) == (-1.0, {}, f"invalid:{reason}")
    assert not wrong, f"{len(wrong)} of {TRIES}: {wrong[0]}"
