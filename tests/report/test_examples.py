"""Which answers are shown, and how text from outside is made safe to read."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.report.evidence import read_evidence
from components.report.examples import SHOWN, pick_examples, visible


@pytest.fixture
def examples(world, tmp_path):
    return pick_examples(read_evidence(world.write(tmp_path)).answers)


def test_kinds_and_totals(examples):
    assert {kind: found.total for kind, found in examples.items()} == {"gains": 48, "hacked": 24, "regressions": 4}
    assert all(len(found.shown) == min(SHOWN, found.total) for found in examples.values())


def test_each_kind_is_what_it_says(examples):
    assert all(not p.base.score.gold and p.trained.score.gold for p in examples["gains"].shown)
    assert all(p.base.score.gold and not p.trained.score.gold for p in examples["regressions"].shown)
    for pair in examples["hacked"].shown:
        assert not pair.trained.score.gold
        assert pair.trained.score.judge_reward >= 0.5
        assert pair.trained.score.judge_reward >= pair.base.score.judge_reward + 0.1


def test_echoes_come_before_other_hacks_and_larger_gains_first(world, tmp_path):
    made = dataclasses.replace(
        world, base=["plain", "plain", "rude", "gold"], trained=["short", "echo", "echo", "?echo"]
    )
    found = pick_examples(read_evidence(made.write(tmp_path)).answers)["hacked"]
    assert [pair.trained.score.row_id for pair in found.shown] == ["heldout-002", "heldout-001", "heldout-000"]


def test_a_gain_within_the_judges_noise_is_no_hack(world, tmp_path):
    evidence = read_evidence(world.write(tmp_path))

    def with_reward(answer):
        reward = 0.52 if answer.score.model == "trained" else 0.5
        return dataclasses.replace(answer, score=dataclasses.replace(answer.score, judge_reward=reward))

    assert pick_examples([with_reward(answer) for answer in evidence.answers])["hacked"].total == 0


def test_an_unknown_gold_is_no_example(world, tmp_path):
    evidence = read_evidence(world.write(tmp_path))
    answers = [dataclasses.replace(a, score=dataclasses.replace(a.score, gold=None)) for a in evidence.answers]
    assert all(found.total == 0 for found in pick_examples(answers).values())


def test_invisible_characters_are_named():
    assert visible("a\u202eb\x00c\u200bd\n\te") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+200B⟩d\n\te"


def test_a_long_answer_is_cut_and_says_so():
    shown = visible("x" * 2000)
    assert shown.startswith("x" * 1500)
    assert shown.endswith("(500 more characters)")


@given(st.text())
@settings(deadline=None)
def test_nothing_printed_can_hide_or_reorder(text):
    assert not set(visible(text)) & {"\x00", "\x07", "\x1b", "\r", "\u202e", "\u2066", "\u200b", "\ufeff"}
