"""What the report says was planted in a scripted judge."""

import math

import pytest

from components.bias.probe import named
from components.bias.run import plan_probes
from components.bias.types import Mode, Role
from components.collect_study.judges import planted_effects
from components.core.spec.single import load_judge, load_reward
from components.core.spec.source import ScriptedSource


def test_a_taste_for_length_is_told_in_the_units_of_the_probe_and_no_other() -> None:
    judge = load_judge("scripted-longer")
    assert isinstance(judge.source, ScriptedSource)
    plan = plan_probes(judge, load_reward("rubric"), named(["verbosity", "sentiment"]), [Mode.BINARY], 12, 0)
    told = planted_effects(judge.source, plan)
    (length,) = (part for part in plan.parts if part.probe.name == "verbosity")

    def score(item, role):
        words = len(item.forms[role].response.split())
        return 1.6 * min(1.0, math.log(1 + words) / math.log(201))

    by_hand = [score(item, Role.CHANGED) - score(item, Role.PLACEBO) for item in length.items]
    assert told["verbosity", Mode.BINARY] == pytest.approx(sum(by_hand) / len(by_hand))
    assert told["verbosity", Mode.BINARY] > 0.1
    # A warm sentence has as many words as the neutral one beside it, give or take one.
    assert abs(told["sentiment", Mode.BINARY]) < 0.01


def test_nothing_planted_is_told_as_nothing() -> None:
    judge = load_judge("scripted-plain")
    assert isinstance(judge.source, ScriptedSource)
    plan = plan_probes(judge, load_reward("rubric"), named(["verbosity", "style"]), [Mode.BINARY], 12, 0)
    assert set(planted_effects(judge.source, plan).values()) == {0.0}
