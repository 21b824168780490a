"""What is unknown is counted beside every number that is made of the rest."""

import dataclasses

import pytest
from asked_items import Says, asked

from components.bias.decisions import Decision
from components.bias.estimate import Estimate
from components.bias.probe import Request, all_probes
from components.bias.result_arms import Arm, Change
from components.bias.result_judges import Bias, Judge
from components.bias.run import Part, Plan
from components.bias.types import Form, Item, Measure, Mode, Role
from components.collect_study.agreeing import probe_agreement
from components.collect_study.arms import Win
from components.collect_study.contrasts import group_contrasts, leakages
from components.collect_study.findings import _prediction
from components.collect_study.heldout import Held
from components.collect_study.opportunities import opportunities
from components.collect_study.probed import Probed
from components.collect_study.remedies import remedies


def _probed(name: str, probe: str, mode: Mode, items: tuple[Item, ...], says: Says) -> Probed:
    outcomes = asked(name, probe, mode, items, says, "timeout")
    return Probed(
        name, "f", None, "m", None, "rubric", Plan((Part(all_probes()[probe], mode, items, 0),), ()), outcomes
    )


def _shipped(probe: str) -> tuple[Item, ...]:
    return tuple(all_probes()[probe].build(Request()))[:12]


def _decided(count: int) -> tuple[Item, ...]:
    """Pairs whose better one is the longer in every second."""
    found = []
    for number in range(count):
        better, other = ("yes " * 9, "no") if number % 2 else ("yes", "no " * 9)
        forms = {Role.BASE: Form("q", better, ("c",)), Role.CHANGED: Form("q", other, ("c",))}
        found.append(Item("position", f"i{number}", f"t{number}", forms, "llmbar-Natural", gold=Role.BASE))
    return tuple(found)


def test_pairs_of_which_one_order_is_unknown_are_counted_beside_kappa_and_consistency() -> None:
    def says(item: Item, role: Role, order: str | None) -> float | None:
        return None if item.item_id in ("i0", "i1", "i2") and order == "base_first" else 0.0

    judge = _probed("j", "position", Mode.PAIRWISE, _decided(10), says)
    (found,) = probe_agreement(judge.outcomes, judge.items, seed=1, confidence=0.95)
    assert (found.accuracy.n, found.accuracy.unknown) == (7, 3)
    assert found.consistency is not None
    assert (found.consistency.n, found.consistency.unknown) == (7, 3)
    # Each order is a choice of its own: 20, of which three are unknown.
    assert (found.kappa.n, found.kappa.unknown) == (17, 3)


def test_decided_pairs_without_an_answer_are_counted_beside_the_chance_by_length() -> None:
    def says(item: Item, role: Role, order: str | None) -> float | None:
        return None if item.item_id in ("i0", "i1", "i2") else 0.0

    judge = _probed("j", "position", Mode.PAIRWISE, _decided(10), says)
    found, _ = opportunities([judge], {}, 0.95)
    (length,) = [each for each in found if each.axis == "length"]
    assert (length.difference.n, length.difference.unknown) == (7, 3)


def test_held_out_responses_without_a_verdict_are_counted_by_what_they_are() -> None:
    def held(prompt: str, right: bool, value: float | None, trainer: str) -> Held:
        return Held(Decision(prompt, right, value), True, trainer)

    rows = [held(f"p{n}", True, 1.0, who) for who in ("j", "k") for n in range(4)]
    rows += [held("p9", True, None, "j"), held("p9", True, None, "k"), held("p8", False, None, "k")]
    judge = _probed("j", "style", Mode.BINARY, _shipped("style"), lambda *_: 0.5)
    found, _ = opportunities([judge], {"j": rows}, 0.95)
    (own,) = [each for each in found if each.axis == "own policy"]
    assert (own.difference.n, own.difference.unknown) == (8, 2)
    assert own.wrong is not None
    assert (own.wrong.value, own.wrong.n, own.wrong.unknown) == (None, 0, 1)


@pytest.mark.parametrize("mode", [Mode.BINARY, Mode.PAIRWISE])
def test_a_chance_of_which_nothing_is_known_stands_as_unknown(mode: Mode) -> None:
    # Pairwise it is made of the items that carry a worse answer.
    probe, role = ("fallacy", Role.WORSE) if mode is Mode.PAIRWISE else ("authority", Role.BASE)
    items = tuple(item for item in _shipped(probe) if item.carries is role)
    assert items
    judge = _probed("j", probe, mode, items, lambda *_: None)
    (found,), absent = opportunities([judge], {}, 0.95)
    assert absent == []
    assert (found.difference.value, found.difference.n, found.difference.unknown) == (None, 0, len(items))
    assert found.wrong is None


def test_a_remedy_counts_items_that_are_known_on_one_side_alone() -> None:
    name, probe, mode = "swap_average", "position", Mode.PAIRWISE
    items = _shipped(probe)
    away = {item.item_id for item in items[:5]}

    def says(item: Item, role: Role, order: str | None) -> float | None:
        return None if item.item_id in away and order == "base_first" else 0.5

    found, _ = remedies([_probed("j", probe, mode, items, says)], [], {}, 0.95)
    (row,) = [each for each in found if each.name == name]
    for part in (row.plain, row.mitigated, row.reduction):
        assert (part.n, part.unknown) == (7, 5)


def test_a_remedy_of_which_nothing_is_known_stands_as_unknown() -> None:
    items = _shipped("reference")
    judge = _probed("j", "reference", Mode.BINARY, items, lambda item, role, _: None if role is Role.PLACEBO else 1.0)
    found, _ = remedies([judge], [], {}, 0.95)
    (row,) = [each for each in found if each.name == "reference"]
    assert (row.reduction.value, row.reduction.n, row.reduction.unknown) == (None, 0, 12)


def test_decided_pairs_stand_apart_from_what_a_panel_takes_off_and_are_not_unknown() -> None:
    apart = (dataclasses.replace(item, probe="style") for item in _decided(4))
    items = (*_shipped("style"), *apart)
    lost = items[0].item_id

    def says(item: Item, role: Role, _: str | None) -> float | None:
        return None if item.item_id == lost else 0.8 if role is Role.CHANGED else 0.2

    panel = dataclasses.replace(_probed("p", "style", Mode.BINARY, items, says), members=("a in p",))
    member = dataclasses.replace(_probed("a in p", "style", Mode.BINARY, items, says), member=True)
    found, _ = remedies([member, panel], [], {}, 0.95)
    (row,) = [each for each in found if each.name == "panel"]
    assert (row.plain.value, row.plain.n, row.plain.unknown) == (pytest.approx(0.6), 11, 1)


def test_wins_without_a_reward_are_counted_beside_length_control_and_leakage() -> None:
    def cell(won: int, unknown: int) -> list[Win]:
        known = [Win(f"p{n}", float(n < won), float(n % 3)) for n in range(10)]
        return known + [Win(f"u{n}", None, 1.0) for n in range(unknown)]

    wins = {("a", "a"): cell(6, 1), ("b", "a"): cell(5, 2), ("b", "b"): cell(4, 3), ("a", "b"): cell(5, 4)}
    (leak,) = leakages([], wins, 0.95)
    assert (leak.score.n, leak.score.unknown) == (40, 10)
    found, _ = remedies([], [], wins, 0.95)
    told = {each.judge: each for each in found if each.name == "length_control"}
    assert {judge: (row.reduction.n, row.reduction.unknown) for judge, row in told.items()} == {
        "a": (10, 1),
        "b": (10, 3),
    }


def test_a_student_that_never_wins_leaves_known_comparisons_known() -> None:
    lost = [Win(f"p{n}", 0.0, 0.0) for n in range(10)]
    (leak,) = leakages([], dict.fromkeys([("a", "a"), ("b", "a"), ("b", "b"), ("a", "b")], lost), 0.95)
    assert (leak.score.value, leak.score.n, leak.score.unknown) == (None, 40, 0)


def _bias(value: float | None, *, texts: int = 9) -> Bias:
    ends = (None, None) if value is None or texts < 2 else (value - 0.1, value + 0.1)
    effect = Estimate.of(value, *ends, n=9, clusters=texts, why="made")
    return Bias(probe="verbosity", title="", mode=Mode.BINARY, measure=Measure.SHIFT, effect=effect)


def test_arms_without_a_bias_or_a_drift_are_counted_beside_the_slope() -> None:
    judges = [
        Judge(name=name, family="f", biases=(_bias(value),))
        for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.4), ("d", None))
    ]
    judges.append(Judge(name="e", family="f", biases=(_bias(0.3, texts=1),)))

    def arm(judge: str, seed: int, words: float | None) -> Arm:
        known = Estimate.missing("no response", unknown=4) if words is None else Estimate.of(words, n=9, why="made")
        change = Change(feature="words", first=known, last=known, change=known)
        return Arm(
            name=f"{judge}-{seed}", judge=judge, reward="rubric", policy="tiny", seed=seed, steps=2, changes=(change,)
        )

    arms = [arm("a", 1, 1.0), arm("b", 1, 2.5), arm("c", 1, 4.0), arm("d", 1, 9.0), arm("e", 1, 9.0), arm("a", 2, None)]
    found = _prediction("verbosity", "words", judges, arms, 1, 0.95)
    assert (found.slope.n, found.slope.clusters, found.slope.unknown) == (3, 3, 3)
    # What one text says is no judge's bias; the report names those that are left out.
    assert {point.judge for point in found.points} == {"a", "b", "c"}
    # Three judges have six orders.
    assert found.note == "3 judges allow no p below 0.167; left out, whose bias is not known with an interval: d, e"


def test_models_without_a_value_are_counted_beside_families_and_sizes() -> None:
    items = _shipped("verbosity")
    asked = _probed("", "verbosity", Mode.BINARY, items, lambda *_: 0.5)
    nothing = Judge(name="", family="")

    def judge(name: str, size: float | None, *biases: Bias) -> tuple[Probed, Judge]:
        model = name.partition(" ")[0]
        one = dataclasses.replace(asked, name=name, family=name[0], parameters=size, model=model)
        return one, nothing.model_copy(update={"name": name, "family": name[0], "biases": biases})

    rows = [
        judge("q0", 1e9, _bias(0.3)),
        # Under another protocol it has no interval: the model is known all the same.
        judge("q0 again", 1e9, _bias(0.9, texts=1)),
        judge("q1", 2e9, _bias(0.2)),
        judge("q2", 4e9, _bias(0.16)),
        judge("q3", 8e9, _bias(0.9, texts=1)),
        judge("q4", None, _bias(0.4)),
        judge("q5", 16e9),
        judge("l0", 8e9, _bias(0.1)),
        judge("l1", 70e9, _bias(None)),
        judge("z0", 3e9, _bias(0.9, texts=1)),
    ]

    def arm(name: str, words: float | None) -> Arm:
        known = Estimate.missing("no response") if words is None else Estimate.of(words, n=9, why="made")
        change = Change(feature="words", first=known, last=known, change=known)
        return Arm(name=name, judge=name, reward="rubric", policy="tiny", seed=1, steps=2, changes=(change,))

    arms = [arm("q0", 2.0), arm("q3", 5.0), arm("l0", None)]
    found, absent = group_contrasts([one for one, _ in rows], [other for _, other in rows], arms, 1, 0.95)
    assert absent == []
    told = {
        (each.what, each.measure): (each.judges, each.difference.n, each.difference.unknown)
        for each in found
        if each.kind == "family"
    }
    assert told == {
        # Known are l0 alone, and q0, q1, q2 and q4; l1, q3, q5 and z0 are not.
        ("judges of l less those of q", "verbosity"): (5, 5, 3),
        ("judges of l less those of z", "verbosity"): (1, 1, 2),
        ("judges of q less those of z", "verbosity"): (4, 4, 3),
        # Of those that trained, l0 alone is unknown.
        ("judges of l less those of q", "words"): (2, 2, 1),
    }
    both = next(each for each in found if each.what == "judges of l less those of q" and each.measure == "verbosity")
    assert both.difference.value == pytest.approx(0.1 - (0.3 + 0.2 + 0.16 + 0.4) / 4)
    others = [each for each in found if each.kind == "family" and each is not both]
    assert all(each.difference.value is None and each.p is None for each in others)
    assert {each.difference.why for each in others} == {"a group has no judge whose value is known"}
    sizes = {(each.what.split(",")[0], each.measure): each for each in found if each.kind == "size"}
    slope = sizes["judges of q", "verbosity"]
    # Least squares through (0, 0.3), (1, 0.2), (2, 0.16); q3 and q5 have no value, q4 has no size.
    assert slope.difference.value == pytest.approx((0.16 - 0.3) / 2)
    assert (slope.judges, slope.difference.n, slope.difference.unknown) == (3, 3, 3)
    drift = sizes["judges of q", "words"]
    assert (drift.difference.value, drift.difference.n, drift.difference.unknown) == (None, 2, 0)
    assert sizes["judges of l", "all measures"].difference.unknown == 0


def test_judges_of_unknown_size_are_counted_where_too_few_are_known() -> None:
    asked = _probed("", "verbosity", Mode.BINARY, _shipped("verbosity"), lambda *_: 0.5)
    sizes = {"a": 1e9, "b": 2e9, "c": None, "d": None}
    probed = [dataclasses.replace(asked, name=name, model=name, parameters=size) for name, size in sizes.items()]
    judges = [Judge(name=name, family="f", biases=(_bias(0.2),)) for name in sizes]
    (found,) = [each for each in group_contrasts(probed, judges, [], 1, 0.95)[0] if each.kind == "size"]
    assert (found.measure, found.difference.value) == ("all measures", None)
    assert (found.difference.n, found.difference.unknown) == (2, 2)
