"""The shipped texts, what rules make of them, and the limits of items."""

import dataclasses
import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.bias.changes import filler, paraphrase, restated, sentences
from components.bias.corpus import Text, texts
from components.bias.formats import STRAINS, STYLES, polished, strained, styled
from components.bias.items import LEAST_ITEMS, LEAST_TEXTS, check, items_of
from components.bias.probe import Probe, Request, Skip, all_probes, named
from components.bias.types import Form, Item, Measure, Mode, Role
from components.bias.wording import lines
from components.core.errors import ConfigError, ContractError

NEEDS_MOUNTED = {"self_preference", "family_preference", "refinement"}
WORD = re.compile(r"[a-z]+")


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def test_there_are_sixty_texts_and_each_has_room_for_what_is_changed() -> None:
    assert len(texts()) >= 60
    for text in texts():
        for answer in (text.good, text.worse):
            assert 60 <= len(answer.split()) <= 150, text.text_id
            assert len(sentences(answer)) >= 4, text.text_id
        assert 10 <= len(text.reference.split()) <= 40, text.text_id
        assert text.question.endswith(("?", ".")), text.text_id


def test_no_two_texts_are_about_the_same() -> None:
    # A text with another one's nouns in it is the same template, filled twice.
    for one in texts():
        for other in texts():
            if one.text_id < other.text_id:
                shared = len(words(one.good) & words(other.good)) / len(words(one.good) | words(other.good))
                assert shared < 0.35, (one.text_id, other.text_id)


def test_good_and_worse_answers_are_about_equally_long() -> None:
    # Otherwise a judge of lengths would seem to see quality.
    good = [len(text.good.split()) for text in texts()]
    worse = [len(text.worse.split()) for text in texts()]
    assert abs(sum(good) - sum(worse)) / len(good) < 10


@pytest.mark.parametrize("text", texts(), ids=lambda text: text.text_id)
def test_a_paraphrase_changes_some_words_and_few(text: Text) -> None:
    for answer in (text.good, text.worse):
        changed = paraphrase(answer, random.Random(5))
        assert changed != answer
        kept = len(words(answer) & words(changed)) / len(words(answer))
        assert kept > 0.75
        assert abs(len(changed.split()) - len(answer.split())) <= 8


@pytest.mark.parametrize("text", texts()[::7], ids=lambda text: text.text_id)
def test_restating_says_nothing_new_and_takes_more_words(text: Text) -> None:
    for share, least in ((0.5, 1.3), (1.0, 1.8)):
        long = restated(text.good, random.Random(2), share=share)
        assert len(long.split()) > least * len(text.good.split())
        allowed = words(text.good) | words(" ".join(lines("restatements"))) | words(" ".join(lines("swaps")))
        assert words(long) <= allowed | {"t", "s"}


@given(st.text(alphabet="abc d", min_size=1, max_size=120), st.integers(0, 50))
def test_a_filler_is_as_long_as_what_it_stands_for(like: str, seed: int) -> None:
    wanted = len(like.split())
    shortest = min(len(line.split()) for line in lines("fillers"))
    if shortest <= wanted <= 30:
        assert abs(len(filler(like, random.Random(seed)).split()) - wanted) <= 1


def test_fillers_and_additions_share_no_sentence() -> None:
    for name in ("authorities", "crowds", "distractions", "injections", "remarks"):
        assert not set(lines(name)) & set(lines("fillers"))


@pytest.mark.parametrize("style", STYLES)
def test_a_style_keeps_the_words_in_their_order(style: str) -> None:
    for text in texts()[::5]:
        kept = WORD.findall(styled(text.good, style).lower())
        headings = {"overview", "details", "summary"} if style == "headings" else set()
        assert [word for word in kept if word not in headings] == [
            word for word in WORD.findall(text.good.lower()) if word not in headings
        ]


def test_marks_of_style_are_in_the_changed_form_alone() -> None:
    marks = re.compile(r"^(?:- |## )|\*\*|[✅🌟💡🚀🔥👍🎯✨]", re.MULTILINE)
    items = items_of(named(["style"])[0], Request(), 1000)
    assert isinstance(items, list)
    for item in items:
        assert marks.search(item.forms[Role.CHANGED].response)
        assert not any(marks.search(item.forms[role].response) for role in item.forms if role is not Role.CHANGED)


@pytest.mark.parametrize("strain", STRAINS)
def test_a_strained_answer_still_has_each_of_its_words(strain: str) -> None:
    for text in texts()[::9]:
        assert words(text.good) <= words(strained(text.good, strain).replace("\\", ""))


def test_a_polished_answer_has_heading_list_and_bold() -> None:
    assert all(mark in polished(texts()[0].good) for mark in ("## ", "\n- ", "**"))


def test_there_are_the_twenty_probes() -> None:
    assert set(all_probes()) == {
        *("position", "verbosity", "polish", "self_preference", "family_preference", "sycophancy", "authority"),
        *("style", "sentiment", "bandwagon", "distraction", "fallacy", "refinement", "master_keys", "injection"),
        *("rubric_order", "scale", "retry", "reference", "failure"),
    }
    for probe in all_probes().values():
        assert bool(probe.leaves_out) == (len(probe.modes) < 3)


@pytest.mark.parametrize("name", sorted(set(all_probes()) - NEEDS_MOUNTED))
def test_a_probe_gives_two_hundred_items_of_forty_texts_and_the_first_ones_are_spread(name: str) -> None:
    probe = all_probes()[name]
    items = items_of(probe, Request(seed=3), 1000)
    assert isinstance(items, list)
    assert len(items) >= LEAST_ITEMS
    assert len({item.text_id for item in items}) >= LEAST_TEXTS
    first = items_of(probe, Request(seed=3), 48)
    assert isinstance(first, list)
    assert first == items[:48]
    assert len({item.text_id for item in first}) == 48
    assert items_of(probe, Request(seed=4), 48) != first
    # What is changed is not what stands beside it, or nothing would be measured.
    if name not in ("position", "retry"):
        for item in items:
            assert item.forms[Role.CHANGED] != item.forms.get(Role.PLACEBO)
            assert item.forms[Role.CHANGED] != item.forms[Role.BASE]


@pytest.mark.parametrize("name", ["authority", "bandwagon", "distraction", "fallacy", "injection", "sentiment"])
def test_a_placebo_adds_as_many_words_as_the_change(name: str) -> None:
    items = items_of(all_probes()[name], Request(), 1000)
    assert isinstance(items, list)
    gaps = [
        len(item.forms[Role.CHANGED].response.split()) - len(item.forms[Role.PLACEBO].response.split())
        for item in items
    ]
    assert max(map(abs, gaps)) <= 2
    assert abs(sum(gaps) / len(gaps)) < 0.75


@pytest.mark.parametrize("name", sorted(NEEDS_MOUNTED))
def test_what_takes_written_items_is_skipped_with_the_reason(name: str) -> None:
    found = items_of(all_probes()[name], Request(judge="m", family="f"), 48)
    assert isinstance(found, Skip)
    assert "mounted" in found.reason


def test_rubric_order_moves_failing_criteria_and_nothing_else() -> None:
    items = items_of(all_probes()["rubric_order"], Request(), 1000)
    assert isinstance(items, list)
    for item in items:
        changed, placebo = item.forms[Role.CHANGED], item.forms[Role.PLACEBO]
        assert changed.response == placebo.response
        assert Counter(changed.criteria) == Counter(placebo.criteria)
        assert changed.criteria != placebo.criteria


def made(texts_: int, rounds: int) -> list[Item]:
    form = Form("Why?", "Because.", ("It says why.",))
    forms = {Role.BASE: form, Role.CHANGED: form}
    return [Item("few", f"{text}.{number}", f"t{text}", forms) for text in range(texts_) for number in range(rounds)]


@pytest.mark.parametrize(("texts_", "rounds", "fine"), [(40, 5, True), (39, 6, False), (40, 4, False), (1, 200, False)])
def test_templates_filled_from_few_texts_are_refused(texts_: int, rounds: int, fine: bool) -> None:
    probe = Probe("few", "t", Measure.SHIFT, (Mode.BINARY,), lambda _: made(texts_, rounds), "x")
    if fine:
        assert len(items_of(probe, Request(), 1000)) == 200  # type: ignore[arg-type]
        return
    with pytest.raises(ContractError, match=f"{texts_ * rounds} items of {texts_} texts"):
        items_of(probe, Request(), 10)


def test_an_item_that_comes_twice_or_lacks_its_base_is_refused() -> None:
    probe = all_probes()["style"]
    items = [dataclasses.replace(each, probe="style") for each in made(50, 4)]
    with pytest.raises(ContractError, match="comes twice"):
        check(probe, [*items, items[0]])
    without = dataclasses.replace(items[0], forms={Role.CHANGED: items[0].forms[Role.CHANGED]})
    with pytest.raises(ContractError, match="no base"):
        check(probe, [without, *items[1:]])


def test_an_unknown_probe_is_refused_with_the_names() -> None:
    with pytest.raises(ConfigError, match="verbositty") as error:
        named(["verbositty"])
    assert "verbosity" in str(error.value)
