"""``math_verify`` against answers whose equality was worked out by hand."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.verdict import UnknownReason, Verdict, VerdictStatus

pytest.importorskip("math_verify")

from components.tasks.boxes import last_boxed

EQUAL = [
    ("1/2", r"\boxed{0.5}"),
    (r"\frac{1}{2}", r"It is \boxed{\dfrac12}."),
    ("0.5", r"\boxed{\frac{3}{6}}"),
    ("42", "The answer is 42."),
    ("42", "First 41, then 42"),
    ("1,000", r"\boxed{1000}"),
    ("x^2+2x+1", r"\boxed{(x+1)^2}"),
    (r"\sqrt{8}", r"\boxed{2\sqrt{2}}"),
    ("(1,2)", r"\boxed{(1, 2)}"),
    (r"\{1,2\}", r"\boxed{\{2,1\}}"),
    ("x=5", r"\boxed{x=5}"),
    (r"\text{Tuesday}", r"\boxed{\text{Tuesday}}"),
    ("2", r"\boxed{1} no, \boxed{2}"),
    ("5", r"so \boxed 5 is it"),
    ("7", r"\fbox{7}"),
    ("3", r"\boxed{3} and an unfinished \boxed{4"),
]
UNEQUAL = [
    ("1/2", r"\boxed{0.6}"),
    ("1/2", r"\boxed{0.5}, or rather \boxed{0.51}"),
    ("2", r"\boxed{1}, though 2 would be nice"),
    ("42", "There is none."),
    ("42", ""),
    ("42", r"\boxed{}"),
    ("(1,2)", r"\boxed{(2,1)}"),
    ("1", r"\boxed{x}"),
    (r"\text{Tuesday}", r"\boxed{\text{Monday}}"),
    ("42", "41 " * 10_000),
]
HOSTILE = [
    ("1", r"\boxed{9^{9^{9^{9}}}}"),
    ("1", r"\boxed{(10^{9})!}"),
    ("1", r"\boxed{\sum_{n=1}^{10^{9}} \sin(n^n)}"),
    ("9^{9^{9}}", r"\boxed{9}"),
]


@pytest.mark.parametrize(("answer", "response"), EQUAL)
def test_equal_answers_are_met(decide: Callable[..., Verdict], answer: str, response: str) -> None:
    verdict = decide("math_verify", response, answer=answer)
    assert (verdict.status, verdict.probability) == (VerdictStatus.MET, 1.0)


@pytest.mark.parametrize(("answer", "response"), UNEQUAL)
def test_other_answers_are_unmet(decide: Callable[..., Verdict], answer: str, response: str) -> None:
    verdict = decide("math_verify", response, answer=answer)
    assert (verdict.status, verdict.probability) == (VerdictStatus.UNMET, 0.0)


@pytest.mark.parametrize(("answer", "response"), HOSTILE)
def test_endless_work_is_never_a_yes(decide: Callable[..., Verdict], answer: str, response: str) -> None:
    verdict = decide("math_verify", response, answer=answer)
    assert verdict.status is not VerdictStatus.MET
    assert verdict.status is VerdictStatus.UNMET or verdict.reason is UnknownReason.RULE_FAILED


def test_power_tower_fails_with_its_limit(decide: Callable[..., Verdict]) -> None:
    verdict = decide("math_verify", r"\boxed{9^{9^{9}}}", answer="9")
    assert verdict.reason is UnknownReason.RULE_FAILED
    assert verdict.probability is None
    assert verdict.explanation is not None
    assert verdict.explanation.startswith(("timeout", "memory"))


@pytest.mark.parametrize("answer", ["", "  "])
def test_answer_that_nobody_can_read_is_no_verdict(decide: Callable[..., Verdict], answer: str) -> None:
    verdict = decide("math_verify", r"\boxed{1}", answer=answer)
    assert verdict.reason is UnknownReason.RULE_FAILED
    assert "expected answer" in str(verdict.explanation)


def test_text_in_an_answer_is_not_run(decide: Callable[..., Verdict]) -> None:
    response = "The answer is __import__('os').system('touch /tmp/run') or \\boxed{__import__('os')._exit(0)}"
    verdict = decide("math_verify", response, answer="0")
    assert verdict.status is not VerdictStatus.MET


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("none", None),
        (r"\boxed{1}", "1"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1\}}", r"\{1\}"),
        (r"\boxed {a} b", "a"),
        (r"\boxed{a}\boxed{b}", "b"),
        (r"\boxed{\boxed{a}}", "a"),
        (r"\boxed{a}\boxed{b", "a"),
        (r"\boxed{", None),
        (r"$\boxed 12$.", "12"),
        (r"\boxed 5.", "5"),
        (r"\boxed", None),
        (r"\boxed{a\\}", r"a\\"),
        (r"\boxed{a\}", None),
    ],
)
def test_last_box(text: str, box: str | None) -> None:
    assert last_boxed(text) == box


@given(before=st.text(), content=st.text(alphabet="ab1+ ^_", min_size=1), after=st.text(alphabet="abc .$"))
def test_a_box_is_found_in_any_text(before: str, content: str, after: str) -> None:
    assert last_boxed(before + " \\boxed{" + content + "}" + after) == content


@given(text=st.text(alphabet="\\boxedf{}$ a"))
def test_no_text_breaks_the_search(text: str) -> None:
    box = last_boxed(text)
    assert box is None or box in text
