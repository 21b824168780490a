"""SQuAD 2.0, HotpotQA and pass@k against a second implementation, and against the published scripts where they are."""

import random

import pytest
import task_oracles as oracles
from hypothesis import given
from hypothesis import strategies as st

from components.tasks import hotpot, squad
from components.tasks.passk import pass_at_k

texts = st.text(alphabet=oracles.LETTERS, max_size=30) | st.text(max_size=20)
facts = st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 2)), max_size=4)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Cat, sat.", "cat sat"),
        ("A", ""),
        ("an A-list", "alist"),
        ("Theatre", "theatre"),
        ("it's the\n‘end’", "its ‘end’"),
        ("U.S.A.", "usa"),
        ("", ""),
    ],
)
def test_normalisation(text, normal):
    assert squad.normalise(text) == normal


@pytest.mark.parametrize(
    ("answer", "golds", "exact", "f1"),
    [
        ("the cat", ["Cat"], True, 1.0),
        ("cat sat", ["cat"], False, 2 / 3),
        ("cat cat", ["cat"], False, 2 / 3),
        ("dog", ["cat", "dog house"], False, 2 / 3),
        ("", [], True, 1.0),
        ("cat", [], False, 0.0),
        ("", ["cat"], False, 0.0),
        ("the", [], True, 1.0),
        ("", ["the", "."], True, 1.0),
    ],
)
def test_squad_by_hand(answer, golds, exact, f1):
    assert squad.score(answer, golds) == (exact, pytest.approx(f1))


def test_squad_agrees_with_a_second_implementation():
    generator = random.Random(6)
    seen = set()
    for answer, golds in oracles.answers(generator, 6000):
        found = squad.score(answer, golds)
        assert (float(found[0]), found[1]) == pytest.approx(oracles.squad(answer, golds)), (answer, golds)
        seen.add((found[0], 0 < found[1] < 1))
    assert len(seen) == 3


@pytest.mark.slow
def test_squad_agrees_with_the_published_script_as_transformers_has_it():
    published = pytest.importorskip("transformers.data.metrics.squad_metrics")
    generator = random.Random(7)
    for answer, golds in oracles.answers(generator, 6000):
        kept = [gold for gold in golds if published.normalize_answer(gold)] or [""]
        exact = max(published.compute_exact(gold, answer) for gold in kept)
        f1 = max(published.compute_f1(gold, answer) for gold in kept)
        found = squad.score(answer, golds)
        assert (int(found[0]), found[1]) == (exact, pytest.approx(f1)), (answer, golds)


@given(answer=texts, golds=st.lists(texts, max_size=3))
def test_squad_on_any_text(answer, golds):
    exact, f1 = squad.score(answer, golds)
    assert (float(exact), f1) == pytest.approx(oracles.squad(answer, golds))
    assert 0 <= f1 <= 1
    assert f1 == 1 or not exact


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1"),
    [
        ("yes", "Yes.", True, 1.0),
        ("yes it is", "yes", False, 0.0),
        ("no", "no man's land", False, 0.0),
        ("no one", "one", False, 2 / 3),
        ("noanswer", "answer", False, 0.0),
        ("", "", True, 0.0),
    ],
)
def test_hotpotqa_gives_no_partial_credit_for_yes_and_no(answer, gold, exact, f1):
    match = hotpot.answer_match(answer, gold)
    assert (match.exact, match.f1) == (exact, pytest.approx(f1))


def test_joint_by_hand():
    # Answer: 1 of 2 tokens right, all of the gold said. Facts: 1 of 2 right, 1 of 3 said.
    answer = hotpot.answer_match("red cat", "cat")
    found = hotpot.facts_match([("A", 0), ("A", 1)], [("A", 0), ("B", 0), ("B", 1)])
    both = hotpot.joint(answer, found)
    assert (both.precision, both.recall) == pytest.approx((1 / 4, 1 / 3))
    assert both.f1 == pytest.approx(2 / 7)
    assert not both.exact


@given(answer=texts, gold=texts, said=facts, wanted=facts)
def test_hotpotqa_agrees_with_a_second_implementation(answer, gold, said, wanted):
    _check_hotpot(answer, gold, said, wanted)


def test_hotpotqa_agrees_on_thousands_of_answers():
    generator = random.Random(8)
    for answer, golds in oracles.answers(generator, 6000):
        draw = [(generator.choice("AB"), generator.randrange(3)) for _ in range(generator.randrange(5))]
        wanted = draw if generator.random() < 0.3 else [("A", 0), ("B", generator.randrange(3))]
        _check_hotpot(answer, golds[0] if golds else "no", draw, wanted)


def _check_hotpot(answer, gold, said, wanted):
    one, other = hotpot.answer_match(answer, gold), hotpot.facts_match(said, wanted)
    both = hotpot.joint(one, other)
    found = (one.exact, one.f1, other.exact, other.f1, both.exact, both.f1)
    assert tuple(map(float, found)) == pytest.approx(oracles.hotpot(answer, gold, said, wanted)), (answer, gold)


def test_pass_at_k_by_hand():
    # 1 - C(7,1)/C(10,1) = 3/10; 1 - C(7,5)/C(10,5) = 1 - 21/252.
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(10, 3, 5) == pytest.approx(0.9167, abs=5e-5)
    assert pass_at_k(10, 6, 5) == 1.0
    assert pass_at_k(10, 0, 5) == 0.0
    assert pass_at_k(1, 1, 1) == 1.0


@given(n=st.integers(1, 200), data=st.data())
def test_pass_at_k_is_the_exact_ratio_of_binomials(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert pass_at_k(n, c, k) == pytest.approx(oracles.pass_at_k(n, c, k), abs=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 1, 6), (5, 6, 1), (5, -1, 1), (5, 1, 0), (0, 0, 1)])
def test_pass_at_k_that_cannot_be_estimated(n, c, k):
    with pytest.raises(ValueError, match="samples"):
        pass_at_k(n, c, k)
