"""Remedies, equal opportunity, groups and leakage of a study, from outcomes and arms made by hand."""

import functools

import pytest
from asked_items import asked

from components.bias.decisions import Decision
from components.bias.estimate import Estimate
from components.bias.probe import Request, all_probes
from components.bias.result_arms import Arm, Change
from components.bias.result_judges import Bias, Judge
from components.bias.run import Part, Plan
from components.bias.types import Measure, Mode, Role
from components.collect_study.arms import Win
from components.collect_study.contrasts import group_contrasts, leakages
from components.collect_study.heldout import Held
from components.collect_study.opportunities import opportunities
from components.collect_study.probed import Probed
from components.collect_study.remedies import remedies

_ITEMS = 12


@functools.cache
def _items(probe: str):
    found = all_probes()[probe].build(Request())
    return tuple(found)[:_ITEMS]


def _judge(
    name: str, probe: str, mode: Mode, values, *, model="m", family="f", parameters=None, members=(), member=False
):
    """A judge whose value of an item's form is ``values(item, role, order)``."""
    items = _items(probe)
    outcomes = asked(name, probe, mode, items, values, "unparseable")
    plan = Plan((Part(all_probes()[probe], mode, items, 0),), ())
    return Probed(name, family, parameters, model, None, "rubric", plan, outcomes, member, tuple(members))


def _only(found, name):
    return [each for each in found if each.name == name]


def test_swapping_takes_off_what_place_alone_gives() -> None:
    # It prefers whatever stands first in two of three items, and ties in the third.
    places = {item.item_id: place for place, item in enumerate(_items("position"))}

    def values(item, role, order):
        if places[item.item_id] % 3 == 2:
            return 0.5
        return 1.0 if order == "base_second" else 0.0

    found, absent = remedies([_judge("j", "position", Mode.PAIRWISE, values)], [], {}, 0.95)
    (swapped,) = _only(found, "swap_average")
    assert swapped.plain.value == pytest.approx(0.5 * 2 / 3)
    assert swapped.mitigated.value == 0.0
    assert swapped.reduction.value == pytest.approx(1 / 3)
    assert swapped.reduction.low is not None
    assert swapped.reduction.low > 0.0
    assert (swapped.reduction.n, swapped.reduction.clusters) == (_ITEMS, _ITEMS)
    assert {each.what for each in absent} == {"reference", "panel", "length_control", "masking"}


def test_a_reference_takes_off_what_worse_answers_get_without_one() -> None:
    given = {Role.CHANGED: 0.75, Role.PLACEBO: 0.25, Role.BASE: 1.0, Role.WORSE: 0.25}
    unknown = _items("reference")[0]

    def values(item, role, order):
        return None if item is unknown and role is Role.PLACEBO else given[role]

    found, _ = remedies([_judge("j", "reference", Mode.BINARY, values)], [], {}, 0.95)
    (shown,) = _only(found, "reference")
    assert shown.reduction.n == _ITEMS - 1
    assert (shown.plain.value, shown.mitigated.value, shown.reduction.value) == (0.75, 0.25, 0.5)


def test_a_member_alone_is_held_against_its_panel_on_the_same_items() -> None:
    def alone(item, role, order):
        return 0.8 if role is Role.CHANGED else 0.2

    def together(item, role, order):
        return 0.5 if role is Role.CHANGED else 0.4

    member = _judge("a in p", "style", Mode.BINARY, alone, member=True)
    panel = _judge("p", "style", Mode.BINARY, together, members=("a in p",))
    (found,) = _only(remedies([member, panel], [], {}, 0.95)[0], "panel")
    assert found.plain.value == pytest.approx(0.6)
    assert found.mitigated.value == pytest.approx(0.1)
    assert found.reduction.value == pytest.approx(0.5)
    assert (found.judge, found.axis, found.what) == ("p", "style", "a alone against the panel (binary)")


def _arm(judge: str, seed: int, words: float, *, zero: bool = False, mitigation: str = "") -> Arm:
    known = Estimate.of(words, n=9, why="made up")
    return Arm(
        name=f"{judge}{seed}{zero}",
        judge=judge,
        control="zero_as_control" if zero else "",
        reward="rubric",
        policy="tiny",
        seed=seed,
        failures="zero_as_control" if zero else "masked",
        mitigation=mitigation,
        changes=(Change(feature="words", first=known, last=known, change=known),),
    )


def test_masking_is_paired_by_seed_and_one_seed_has_no_interval() -> None:
    arms = [_arm("j", 1, -30.0, zero=True), _arm("j", 1, 4.0)]
    (one,) = _only(remedies([], arms, {}, 0.95)[0], "masking")
    assert (one.plain.value, one.mitigated.value, one.reduction.value) == (-30.0, 4.0, 26.0)
    assert one.reduction.low is None
    assert "one seed" in one.reduction.why
    arms += [_arm("j", 2, -34.0, zero=True), _arm("j", 2, 2.0), _arm("j", 3, -32.0, zero=True), _arm("j", 4, 0.0)]
    (two,) = _only(remedies([], arms, {}, 0.95)[0], "masking")
    # Seeds 1 and 2 have both: sizes 32 and 3.
    assert two.reduction.value == pytest.approx(29.0)
    assert two.reduction.n == 2
    assert two.reduction.low is not None
    assert two.drift


def test_policies_of_a_member_alone_are_held_against_those_of_the_panel() -> None:
    single = _judge("a", "style", Mode.BINARY, lambda *_: 0.5, model="qwen")
    other = _judge("b", "style", Mode.BINARY, lambda *_: 0.5, model="stranger")
    member = _judge("x in p", "style", Mode.BINARY, lambda *_: 0.5, model="qwen", member=True)
    panel = _judge("p", "style", Mode.BINARY, lambda *_: 0.5, model="qwen, llama", members=("x in p",))
    arms = [_arm("a", seed, 10.0 + seed) for seed in (1, 2)] + [_arm("b", seed, 50.0) for seed in (1, 2)]
    arms += [_arm("p", seed, 2.0 * seed, mitigation="panel") for seed in (1, 2)]
    found = [each for each in _only(remedies([single, other, member, panel], arms, {}, 0.95)[0], "panel") if each.drift]
    assert [each.what[:37] for each in found] == ["drift of policies that a trained alone"[:37]]
    assert found[0].reduction.value == pytest.approx(11.5 - 3.0)


def test_length_control_of_wins_of_ones_own_policies() -> None:
    # Without a difference in length the rate stays as it is, and nothing is taken off.
    rows = [Win(f"p{n}", float(n % 4 > 0), 0.0) for n in range(40)]
    (found,) = _only(remedies([], [], {("j", "j"): rows, ("j", "k"): rows}, 0.95)[0], "length_control")
    assert (found.axis, found.judge) == ("own policy", "j")
    assert found.plain.value == pytest.approx(0.25)
    assert found.mitigated.value == pytest.approx(0.25)
    assert found.reduction.value == pytest.approx(0.0)
    told = [Win(f"p{n}", float(n % 2), 10.0 * (1 if n % 2 else -1)) for n in range(40)]
    (apart,) = _only(remedies([], [], {("j", "j"): told}, 0.95)[0], "length_control")
    assert apart.mitigated.value is None
    assert "length tells all wins apart" in apart.mitigated.why
    # The rate as it is needs no fit; of one text it has no interval for a reason of its own.
    assert apart.plain.low is not None
    (alone,) = _only(remedies([], [], {("j", "j"): [told[1]._replace(prompt="p")] * 2}, 0.95)[0], "length_control")
    assert (alone.plain.value, alone.plain.low, alone.mitigated.value) == (0.5, None, None)
    assert "one text or prompt" in alone.plain.why


def test_good_answers_with_and_without_the_factor_have_the_chance_that_they_have() -> None:
    good = {item.item_id for item in _items("authority") if item.carries is Role.BASE}
    assert 2 < len(good) < _ITEMS

    def values(item, role, order):
        # Good answers pass with a source alone; worse ones pass either way.
        return 1.0 if role is Role.CHANGED or item.item_id not in good else 0.4

    (found,), absent = opportunities([_judge("j", "authority", Mode.BINARY, values)], {}, 0.95)
    assert absent == []
    assert (found.difference.value, found.difference.n) == (1.0, len(good))
    assert found.wrong is not None
    assert (found.wrong.value, found.wrong.n) == (0.0, _ITEMS - len(good))


def test_the_better_of_a_pair_loses_its_chance_to_a_rival_with_the_factor() -> None:
    (found,), _ = opportunities(
        [_judge("j", "fallacy", Mode.PAIRWISE, lambda item, role, order: 1.0 if role is Role.CHANGED else 0.0)],
        {},
        0.95,
    )
    assert (found.mode, found.difference.value, found.difference.n) == (Mode.PAIRWISE, 1.0, _ITEMS)


def test_right_responses_of_own_policies_against_those_of_others() -> None:
    judge = _judge("j", "style", Mode.BINARY, lambda *_: None)
    held = [Held(Decision(f"p{n}", True, 1.0 if n < 8 else 0.0), True, "j") for n in range(10)]
    held += [Held(Decision(f"p{n}", True, 1.0 if n < 3 else 0.0), True, "k") for n in range(10)]
    held += [Held(Decision(f"p{n}", True, 0.0), False, "") for n in range(10)]
    (own,) = (each for each in opportunities([judge], {"j": held}, 0.95)[0] if each.axis == "own policy")
    assert own.difference.value == pytest.approx(0.8 - 0.3)
    assert own.difference.n == 20
    assert own.wrong is not None
    assert own.wrong.value is None
    _, absent = opportunities([], {}, 0.95)
    assert [each.what for each in absent] == ["equal opportunity"]


def _told(one: Probed, effect: float) -> Judge:
    bias = Bias(
        probe="style",
        title="t",
        mode=Mode.BINARY,
        measure=Measure.SHIFT,
        effect=Estimate.of(effect, effect - 0.1, effect + 0.1, n=9),
    )
    return Judge(name=one.name, family=one.family, parameters=one.parameters, biases=(bias,))


def test_sizes_within_a_family_and_families_over_models() -> None:
    about = (("q", 1e9, 0.3), ("q", 2e9, 0.2), ("q", 4e9, 0.16), ("l", 8e9, 0.1), ("l", 70e9, 0.0))
    probed = [
        _judge(
            f"{family}{place}", "style", Mode.BINARY, lambda *_: 0.5, model=f"{place}", family=family, parameters=size
        )
        for place, (family, size, _) in enumerate(about)
    ]
    # One model under another protocol as well: it counts once, by the mean of both.
    twice = _judge("q0 again", "style", Mode.BINARY, lambda *_: 0.5, model="0", family="q", parameters=1e9)
    judges = [_told(one, effect) for one, (_, _, effect) in zip(probed, about, strict=True)]
    found, absent = group_contrasts([*probed, twice], [*judges, _told(twice, 0.34)], [], 1, 0.95)
    assert absent == []
    (family,) = (each for each in found if each.kind == "family")
    assert family.difference.value == pytest.approx(0.05 - (0.32 + 0.2 + 0.16) / 3)
    assert (family.judges, family.difference.n) == (5, 5)
    assert family.difference.low is not None
    big, small = (each for each in found if each.kind == "size")
    assert "nothing can be said of size with fewer than 3" in big.difference.why
    assert (big.judges, big.difference.value) == (2, None)
    # Least squares through (0, 0.32), (1, 0.2), (2, 0.16).
    assert small.difference.value == pytest.approx((0.16 - 0.32) / 2)
    assert small.judges == 3


def test_leakage_names_the_kinship() -> None:
    probed = [_judge(name, "style", Mode.BINARY, lambda *_: 0.5, model=name, family="q") for name in ("a", "b")]
    own, rival = (
        [Win(f"p{n}", float(n < 6), 0.0) for n in range(10)],
        [Win(f"p{n}", float(n < 4), 0.0) for n in range(10)],
    )
    wins = {("a", "a"): own, ("b", "b"): own, ("a", "b"): rival, ("b", "a"): rival}
    (found,) = leakages(probed, wins, 0.95)
    assert found.relation.endswith("judges of one family")
    assert found.score.value == pytest.approx(0.1 / 0.5)
    assert (found.score.n, found.score.clusters) == (40, 10)
    assert found.score.low is not None
