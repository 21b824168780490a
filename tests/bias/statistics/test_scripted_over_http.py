"""Every axis planted once, probed over real HTTP with the project's own items and prompts, and found."""

import pytest
from aiohttp.test_utils import TestServer

from components.bias.effects import measure_effects
from components.bias.items import items_of
from components.bias.probe import Request, all_probes, named
from components.bias.run import run_probes
from components.bias.scripted.axes import AXES, feature
from components.bias.scripted.inprocess import expected
from components.bias.scripted.judge import ScriptedJudge
from components.bias.scripted.server import MODEL, build_app
from components.bias.types import Item, Measure, Mode, Role
from components.core.spec.judge import JudgeSpec

ITEMS = 60
STRENGTH = 0.3
MOUNTED = frozenset({"self_preference", "family_preference", "refinement"})
"""Probes that work with what users mount."""
IN_THE_TEXT = (
    "style",
    "polish",
    "authority",
    "bandwagon",
    "sentiment",
    "distraction",
    "fallacy",
    "injection",
)
PLANTED = sorted(set(AXES) - MOUNTED)


def _items(axis: str, count: int = ITEMS) -> list[Item]:
    found = items_of(all_probes()[axis], Request(), count)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("axis", IN_THE_TEXT)
def test_the_judge_finds_the_feature_in_the_changed_form_and_not_in_the_placebo(axis: str) -> None:
    for item in _items(axis, 240):
        shown = [feature(axis, item.forms[role]) for role in (Role.BASE, Role.CHANGED, Role.PLACEBO)]
        assert shown == [0.0, 1.0, 0.0], item.item_id


def test_changed_forms_strain_the_judge_and_placebos_do_not() -> None:
    judge = ScriptedJudge({"failure": 0.7})
    for item in _items("failure", 240):
        shown = [judge.failure_rate(item.forms[role]) for role in (Role.BASE, Role.CHANGED, Role.PLACEBO)]
        assert shown == [0.0, 0.7, 0.0], item.item_id


@pytest.mark.slow
@pytest.mark.parametrize("axis", PLANTED)
async def test_what_is_planted_is_found_over_http(axis: str) -> None:
    (probe,) = named([axis])
    mode = Mode.POINTWISE if Mode.POINTWISE in probe.modes else Mode.PAIRWISE
    planted = ScriptedJudge({axis: STRENGTH})
    async with TestServer(build_app(planted)) as server:
        url = str(server.make_url("/")).rstrip("/")
        spec = JudgeSpec(
            name="scripted",
            family="none",
            serving="external",
            endpoint=url,
            profile="generic",
            model_name=MODEL,
            context_tokens=16384,
            logprobs=False,
        )
        outcomes = await run_probes(spec, url, [probe], [mode], ITEMS, 0, repeats=2)
    (effect,) = measure_effects(outcomes, {axis: probe.measure})
    truth = expected(planted, _items(axis), probe.measure, mode)
    assert effect.bias.value is not None
    assert effect.bias.se is not None
    # One repetition: a right interval of 95 % would fail one axis in twenty, one of five errors none.
    assert abs(effect.bias.value - truth) <= 5.0 * effect.bias.se
    if probe.measure is not Measure.FAILURE:
        unknown = {reason: n for reason, n in effect.reasons.items() if reason != "empty_response"}
        assert unknown == {}
