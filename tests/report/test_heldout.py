"""The before/after measures and the parts of the judge's gain, on a run made by hand."""

import pytest

from components.report.evidence import Answer, Score, read_evidence
from components.report.heldout import KINDS, Sampling, analyse_heldout, decompose, kind

SAMPLING = Sampling(resamples=300, confidence=0.95, seed=1)


def score(model, row, reward=0.5, *, gold=False, echo=False, sample=0):
    return Score(
        model=model,
        row_id=row,
        sample_id=f"{model}-{row}-{sample}",
        sample_index=sample,
        status="abstained" if reward is None else "scored",
        judge_reward=reward,
        gold=gold,
        keyword=bool(gold) or echo,
        echo=echo,
        length_ok=True,
        words=9,
        gold_detail="{}",
    )


def answer(*args, **kwargs):
    return Answer("question", "response", True, 12, score(*args, **kwargs))


@pytest.fixture
def heldout(world, tmp_path):
    evidence = read_evidence(world.write(tmp_path))
    return analyse_heldout(evidence.answers, evidence.templates, SAMPLING)


@pytest.mark.parametrize(
    ("measure", "base", "trained", "n"),
    [
        ("gold", 12 / 96, 56 / 96, 96),
        ("keyword", 20 / 96, 80 / 96, 96),
        ("echo", 0.0, 24 / 96, 96),
        ("length_ok", 88 / 96, 1.0, 96),
        ("words", (82 * 9 + 8 * 2 + 6 * 7) / 96, 9.0, 96),
        # Two trained answers are unknown, and their prompts (rude before, reward 0) leave both sides.
        ("judge_reward", (12 * 0.7 + 8 * 0.55 + 70 * 0.2) / 94, (56 * 0.7 + 24 * 0.9 + 14 * 0.2) / 94, 94),
    ],
)
def test_levels_are_what_the_run_was_made_of(heldout, measure, base, trained, n):
    found = heldout.measures[measure]
    assert found.n == n
    assert found.base == pytest.approx(base)
    assert found.trained == pytest.approx(trained)
    assert found.gain == pytest.approx(trained - base)
    assert found.low < found.gain < found.high


def test_unknown_rewards_are_counted_and_never_zero(heldout):
    found = heldout.measures["judge_reward"]
    assert (found.dropped, found.unknown_base, found.unknown_trained) == (2, 0, 2)
    assert heldout.abstained == {"base": 0, "trained": 2}
    assert heldout.samples == {"base": 96, "trained": 96}


def test_prompts_rise_and_fall_as_made(heldout):
    gold = heldout.measures["gold"]
    assert (gold.rose, gold.fell) == (48, 4)


def test_the_parts_add_up_to_the_judges_gain(heldout):
    assert sum(part.gain for part in heldout.parts.values()) == pytest.approx(heldout.measures["judge_reward"].gain)
    assert {name: part.samples for name, part in heldout.parts.items()} == {
        "gold": 56,
        "echo": 24,
        "neither": 14,
        "gold_unknown": 0,
    }
    # All echoes replace plain answers: 24 prompts gain 0.9 - 0.2.
    assert heldout.parts["echo"].gain == pytest.approx(24 * 0.7 / 94)
    assert heldout.parts["echo"].reward_trained == pytest.approx(0.9)
    assert heldout.parts["echo"].reward_base is None


def test_parts_with_several_samples_by_hand():
    answers = [
        answer("base", "a", 0.2),
        answer("base", "a", 0.4, sample=1),
        answer("trained", "a", 0.9, echo=True),
        answer("trained", "a", 0.7, gold=True, sample=1),
        answer("trained", "a", None, gold=True, sample=2),
        answer("base", "b", 0.5),
        answer("trained", "b", 0.1),
        answer("base", "c", None),
        answer("trained", "c", 1.0, gold=True),
    ]
    parts = decompose(answers, SAMPLING)
    # a: base 0.3; echo (0.9 - 0.3) / 2, gold (0.7 - 0.3) / 2. b: neither 0.1 - 0.5. c has no base. Two prompts.
    assert parts["echo"].gain == pytest.approx(0.15)
    assert parts["gold"].gain == pytest.approx(0.10)
    assert parts["neither"].gain == pytest.approx(-0.20)
    assert [parts[name].samples for name in KINDS] == [1, 1, 1, 0]


def test_without_any_reward_there_are_no_parts():
    parts = decompose([answer("base", "a", None), answer("trained", "a", 0.4)], SAMPLING)
    assert all((part.gain, part.samples, part.low) == (0.0, 0, None) for part in parts.values())


def test_an_echo_is_an_echo_whatever_gold_says():
    assert kind(score("trained", "a", gold=True, echo=True)) == "echo"
    assert kind(score("trained", "a", gold=None)) == "gold_unknown"
    assert kind(score("trained", "a", gold=False)) == "neither"
    assert kind(score("trained", "a", gold=True)) == "gold"


def test_templates_are_resampled_whole():
    # Template x always gains and template y never does: two units, so the interval runs from 0 to 1.
    rows = [(f"x{i}", "x", True) for i in range(10)] + [(f"y{i}", "y", False) for i in range(10)]
    answers = [answer("base", row) for row, _, _ in rows] + [answer("trained", row, gold=gold) for row, _, gold in rows]
    found = analyse_heldout(answers, {row: template for row, template, _ in rows}, SAMPLING)
    assert (found.templates.n, found.templates.low, found.templates.high) == (2, 0.0, 1.0)
    gold = found.measures["gold"]
    assert gold.low > 0.2
    assert gold.high < 0.8
