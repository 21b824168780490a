"""Right and wrong answers by algebra, and what no answer may do: be held right, take for ever, or end the checker."""

import asyncio

import pytest

from components.sandbox.limits import Limits
from components.tasks.answers import Found, Place
from components.tasks.gold import MathGold
from components.tasks.math_equal import MathEquality, excess
from components.tasks.score import TaskScorer

pytest.importorskip("math_verify")

RIGHT = [
    ("math", "x^2+2x+1", r"So \boxed{(x+1)^2}."),
    ("math", r"\frac{\sqrt{2}}{2}", r"\boxed{\frac{1}{\sqrt2}}"),
    ("math", r"\{1,2\}", r"\boxed{2, 1}"),
    ("math", "3, 5", r"\boxed{5,3}"),
    ("math", r"\begin{pmatrix} 1/2 \\ 2 \end{pmatrix}", r"\boxed{\begin{bmatrix} 0.5 \\ 2 \end{bmatrix}}"),
    ("math", r"2\sqrt{2}", r"The answer is $\sqrt{8}$."),
    ("math", "4i+3", "3+4i"),
    ("math", "7", "Hence x = 7"),
    ("math", r"\text{Evelyn}", "The answer is Evelyn."),
    ("gsm8k", "0.5", r"\boxed{\sin\left(\frac{\pi}{6}\right)}"),
]
WRONG = [
    ("math", "(1,2)", r"\boxed{[1,2]}"),
    ("math", "(1,2)", r"\boxed{(2,1)}"),
    ("math", "x", r"\boxed{y}"),
    ("math", "5", r"\boxed{5x}"),
    ("math", r"\text{Evelyn}", r"\boxed{\text{Carla}}"),
    ("math", r"\frac12", r"\boxed{\frac{1}{0}}"),
    ("math", r"\frac12", r"\boxed{\frac{}{}}"),
    ("math", "2", "There are 2 ways to see it, and none works: \\boxed{\\text{undefined}}"),
    ("math", "42", "the cat sat on the mat"),
    ("gsm8k", "42", "41 or so"),
    ("gsm8k", "42", ""),
]
HOSTILE = [
    r"\boxed{9^{9^{9}}}",
    r"\boxed{9^{9^{9^{9}}}}",
    "9^9^9",
    "9**9**9",
    r"\boxed{(10^{9})!}",
    r"\boxed{99999!}",
    r"\boxed{((9!)!)!}",
    r"\boxed{1000000000^{1000000000}}",
    r"\boxed{1e999999999}",
    "\\boxed{" + "{" * 30_000 + "}" * 30_000 + "}",
    "\\boxed{" * 9000,
    "{" * 65_536,
    "9" * 65_536,
    "\\boxed{" + "9" * 65_536 + "}",
    "\\frac" * 10_000,
    "$" * 65_536,
    "answer is " * 6500,
    "!" * 65_536,
    ", ." * 20_000,
    " " * 65_536,
    "\x00\x01\x1b[2J \ud800 \udfff",
    "\\boxed{\ud800}",
    "\\boxed{\x00}",
    "\\boxed{__import__('os').system('true')}",
    "\\boxed{1" + "+1" * 900 + "}",
]


@pytest.fixture(scope="module")
def scored():
    with asyncio.Runner() as runner:
        scorer = TaskScorer(concurrency=1)
        yield lambda dataset, gold, response: runner.run(scorer.score(MathGold(dataset, gold), response))
        runner.run(scorer.close())


@pytest.mark.parametrize(("dataset", "gold", "response"), RIGHT)
def test_right_answers(scored, dataset, gold, response):
    assert scored(dataset, gold, response).correct is True


@pytest.mark.parametrize(("dataset", "gold", "response"), WRONG)
def test_wrong_and_missing_answers_are_wrong(scored, dataset, gold, response):
    assert scored(dataset, gold, response).correct is False


@pytest.mark.parametrize("response", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_answers_are_wrong(scored, response):
    for dataset in ("math", "gsm8k"):
        assert scored(dataset, "31", response).correct is False


def test_a_gold_that_no_algebra_reads_is_compared_as_text(scored):
    gold = "}{"
    assert scored("math", gold, "\\boxed{1}").correct is False
    assert scored("math", gold, gold).correct is True


@pytest.mark.slow
async def test_what_runs_out_of_time_is_unknown_and_says_so():
    equality = MathEquality(Limits(cpu_seconds=1, wall_seconds=20.0, memory_bytes=1 << 30, open_files=128), 1)
    found = await equality.equal("1", Found(Place.BOX, r"\sum_{n=1}^{10^{9}} \sin(n^n)"))
    await equality.close()
    assert found.equal is None
    assert found.passing
    assert found.detail.startswith(("timeout", "memory"))


async def test_the_event_loop_goes_on_while_algebra_works():
    equality = MathEquality(concurrency=1)
    comparing = asyncio.create_task(equality.equal("x^2+2x+1", Found(Place.BOX, "(x+1)^2")))
    turns = 0
    while not comparing.done():
        await asyncio.sleep(0.001)
        turns += 1
    await equality.close()
    assert comparing.result().equal is True
    assert turns > 20


@pytest.mark.parametrize("text", ["2^{10}", "2^{2^{3}}", "10^{-3}", "x^{y^{z}}", "5!", "2^{99}", r"\frac{7!}{3!4!}"])
def test_what_can_be_worked_out_is_not_too_large(text):
    assert excess(text) == ""
