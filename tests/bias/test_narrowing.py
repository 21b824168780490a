"""Fewer criteria a text: the flip control keeps one that the worse answer fails and one that it meets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.bias.corpus import texts
from components.bias.narrowing import narrowed
from components.bias.probe import all_probes
from components.bias.run import plan_probes
from components.bias.types import Form, Item, Mode, Role
from components.core.spec.single import load_judge, load_reward


def item(*criteria: tuple[str, ...], text_id: str | None = None) -> Item:
    text = texts()[0]
    forms = {
        role: Form(text.question, text.good, shown)
        for role, shown in zip((Role.BASE, Role.CHANGED), criteria, strict=True)
    }
    return Item("style", "one", text_id or text.text_id, forms)


@given(st.sampled_from(texts()), st.integers(2, 6))
def test_one_that_fails_and_the_first_others_are_kept_in_the_order_shown(text, most):
    shown = tuple(reversed(text.criteria))
    forms = {
        Role.BASE: Form(text.question, text.good, text.criteria),
        Role.WORSE: Form(text.question, text.worse, shown),
    }
    (found,) = narrowed([Item("style", "one", text.text_id, forms)], most)
    kept = found.forms[Role.BASE].criteria
    assert len(kept) == min(most, len(text.criteria))
    assert found.forms[Role.WORSE].criteria == tuple(reversed(kept))
    failing = {text.criteria[place] for place in text.fails}
    assert failing & set(kept)
    assert set(kept) - failing
    assert [each for each in text.criteria if each in kept] == list(kept)


def test_criteria_of_another_kind_stay_whole():
    text = texts()[0]
    own = ("It is short.", "It is kind.", "It is right.")
    changed = item(text.criteria, own)
    assert narrowed([changed], 2) == [changed]
    mounted = item(own, own, text_id="of somebody else")
    assert narrowed([mounted], 2) == [mounted]


def test_one_criterion_makes_no_flip_control():
    with pytest.raises(ValueError, match="too few"):
        narrowed([], 1)


def test_a_plan_asks_about_no_more_and_everything_else_is_the_same():
    judge, reward = load_judge("smollm2-lr"), load_reward("likelihood-ratio")
    probes = [probe for probe in all_probes().values() if probe.name in ("verbosity", "style", "master_keys")]
    whole = plan_probes(judge, reward, probes, [Mode.BINARY], 48, 1)
    fewer = plan_probes(judge, reward, probes, [Mode.BINARY], 48, 1, criteria=2)
    for one, other in zip(whole.parts, fewer.parts, strict=True):
        assert [each.item_id for each in one.items] == [each.item_id for each in other.items]
        for before, after in zip(one.items, other.items, strict=True):
            assert before.forms.keys() == after.forms.keys()
            for role, form in after.forms.items():
                assert len(form.criteria) == 2, form
                assert set(form.criteria) <= set(before.forms[role].criteria)
                assert (form.question, form.response) == (before.forms[role].question, before.forms[role].response)
