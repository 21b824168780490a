"""What a study can find counts the items that an effect is made of: decided pairs without a placebo make none."""

import json
from pathlib import Path

import pytest
from scipy import stats

from components.bias import least
from components.bias.effects import measure_effects
from components.bias.mounted import Mounted
from components.bias.power import assumed_sd, detectable
from components.bias.probe import Request, all_probes, named
from components.bias.run import Part, Plan, plan_probes
from components.bias.scripted.inprocess import outcomes
from components.bias.scripted.judge import ScriptedJudge
from components.bias.types import Form, Item, Measure, Mode, Role
from components.collect_study.judges import planted_effects
from components.core.spec.single import load_judge, load_reward
from components.core.spec.source import ScriptedSource
from components.study.detecting import detectables

OWN, DECIDED = 12, 5


def _part(name: str, mode: Mode, source: str, decided: int) -> tuple[Part, int]:
    """A probe's 48 first shipped items with decided pairs beside them, and of how many texts the shipped ones are."""
    probe = all_probes()[name]
    own = tuple(probe.build(Request()))[:48]
    forms = {Role.BASE: Form("q", "good", ("c",)), Role.CHANGED: Form("q", "other", ("c",))}
    pairs = tuple(Item(name, f"p{n}", f"q{n}", forms, source, gold=Role.BASE) for n in range(decided))
    return Part(probe, mode, own + pairs, 0), len({item.text_id for item in own})


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """One probe, of 12 shipped items with a placebo and 5 pairs of LLMBar's format, asked pairwise."""
    pairs = [
        {"input": f"Say {number}.", "output_1": f"{number}", "output_2": "No. " * 90, "label": 1}
        for number in range(DECIDED)
    ]
    path = tmp_path / "LLMBar" / "Adversarial" / "Manual" / "dataset.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(pairs), encoding="utf-8")
    judge, reward = load_judge("scripted-longer"), load_reward("rubric")
    return plan_probes(judge, reward, named(["polish"]), [Mode.PAIRWISE], OWN, 0, 0, Mounted(tmp_path))


def test_the_plan_tells_the_n_that_the_effect_will_have(plan: Plan) -> None:
    (told,) = detectables(plan, 0.05)
    (part,) = plan.parts
    (effect,) = measure_effects(outcomes(ScriptedJudge(), part.items, Mode.PAIRWISE), {"polish": part.probe.measure})
    assert len(part.items) == OWN + DECIDED
    assert (told.n_items, told.n_texts) == (effect.bias.items, effect.bias.texts) == (OWN, OWN)
    assert effect.apart == DECIDED
    # The one-sample t test of the textbook, 12 items at a spread of 0.5: (2.201 + 0.876) * 0.5 / sqrt(12) = 0.444.
    by_hand = (stats.t.ppf(0.975, OWN - 1) + stats.t.ppf(0.8, OWN - 1)) * 0.5 / OWN**0.5
    assert told.effect == pytest.approx(by_hand)
    assert told.effect == pytest.approx(0.444, abs=5e-4)


def test_the_command_says_so_too(plan: Plan) -> None:
    (line,) = least.told(plan.parts)
    assert "12 items of  12 texts and 5 decided pairs: finds an effect of 0.444 or more" in line


def test_a_folder_of_which_nothing_is_asked_is_told(plan: Plan, tmp_path: Path) -> None:
    # LLMBar's pairs are read by polish and position alone.
    judge, reward, mounted = load_judge("scripted-longer"), load_reward("rubric"), Mounted(tmp_path)
    style = plan_probes(judge, reward, named(["style"]), [Mode.PAIRWISE], OWN, 0, 0, mounted)
    assert least.unasked(plan.parts, mounted) == []
    (note,) = least.unasked(style.parts, mounted)
    assert f"nothing of {tmp_path} is asked" in note
    assert least.unasked(style.parts, Mounted()) == []


def test_what_was_planted_is_told_of_the_same_items(plan: Plan) -> None:
    source = load_judge("scripted-longer").source
    assert isinstance(source, ScriptedSource)
    (part,) = plan.parts
    own = [item for item in part.items if Role.PLACEBO in item.forms]
    told = planted_effects(source, plan)
    assert told == planted_effects(source, Plan((type(part)(part.probe, part.mode, tuple(own), 0),), ()))


def test_one_by_one_and_many_more_than_the_items_they_find_no_shift_either() -> None:
    part, texts = _part("polish", Mode.BINARY, "llmbar-Neighbor", 200)
    (found,) = detectables(Plan((part,), ()), 0.05)
    assert (found.n_items, found.n_texts) == (48, texts)
    assert found.effect == detectable(48, texts, assumed_sd(Measure.SHIFT, Mode.BINARY), 0.05)
    (line,) = least.told([part])
    assert f"48 items of {texts:>3} texts" in line


def test_of_the_first_place_every_pair_counts() -> None:
    part, _ = _part("position", Mode.PAIRWISE, "llmbar-Natural", 100)
    (found,) = detectables(Plan((part,), ()), 0.05)
    assert found.n_items == 148
