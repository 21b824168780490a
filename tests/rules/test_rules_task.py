"""Rule ``task``: what the official check finds becomes a verdict, whose probability may be an F1."""

import asyncio
from pathlib import Path

import pytest

from components.core.errors import ContractError
from components.judge.memory import Ledger
from components.judge.rule import Rule
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus
from components.rules.checker import RuleChecker
from components.rules.finding import Finding
from components.rules.task_rule import TaskRule
from components.rules.version import protocol
from components.sandbox.limits import Limits
from components.tasks.code import CodeRunner
from components.tasks.gold import CodeGold, MathGold, QaGold, TaskGold, to_json
from components.tasks.score import TaskScore, TaskScorer

QA = QaGold("squad2", ("the red house", "a house"))
MATH = MathGold("math", "3")


class Script:
    """Scores by a table, and counts."""

    def __init__(self, scores: dict[str, TaskScore]) -> None:
        self.scores = scores
        self.asked: list[tuple[TaskGold, str]] = []
        self.closed = 0

    async def score(self, gold: TaskGold, response: str) -> TaskScore:
        self.asked.append((gold, response))
        await asyncio.sleep(0)
        return self.scores[response]

    async def close(self) -> None:
        self.closed += 1


def rule(gold: TaskGold, metric: str = "exact") -> Rule:
    return Rule.parse({"name": "task", "gold": to_json(gold), "metric": metric})


def sample(checked: Rule, response: str, sample_id: str = "s") -> Sample:
    return Sample("r", sample_id, "Q?", response, (Criterion("is right", verifier="rule", rule=checked),))


async def verdict(script: Script, checked: Rule, response: str, ledger: Ledger | None = None):
    checker = RuleChecker(ledger, tasks=TaskRule(scorer=script))
    (found,) = await checker.check(sample(checked, response))
    await checker.close()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("metric", "scored", "status", "probability"),
    [
        ("exact", TaskScore(True, 1.0, 1.0), VerdictStatus.MET, 1.0),
        ("exact", TaskScore(False, 0.0, 0.8), VerdictStatus.UNMET, 0.0),
        # "red house" against "the red house" is exact without the article; "red barn" shares one word of two: 0.5.
        ("f1", TaskScore(False, 0.0, 0.5), VerdictStatus.UNMET, 0.5),
        ("f1", TaskScore(True, 1.0, 1.0), VerdictStatus.MET, 1.0),
        ("f1", TaskScore(False, 0.0, None), VerdictStatus.UNMET, 0.0),
    ],
)
async def test_the_metric_is_the_probability(
    metric: str, scored: TaskScore, status: VerdictStatus, probability: float
) -> None:
    found = await verdict(Script({"red barn": scored}), rule(QA, metric), "red barn")
    assert (found.status, found.probability, found.judge, found.reason) == (status, probability, "rule", None)
    assert found.protocol.startswith("rule/task/")


async def test_what_could_not_be_run_is_unknown_and_asked_again(tmp_path: Path) -> None:
    script = Script({"x": TaskScore(None, detail="the sandbox did not start")})
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        checker = RuleChecker(ledger, tasks=TaskRule(scorer=script))
        for number in range(2):
            (found,) = await checker.check(sample(rule(MATH), "x", f"s{number}"))
            assert found is not None
            assert (found.status, found.probability) == (VerdictStatus.UNKNOWN, None)
            assert found.reason is UnknownReason.RULE_FAILED
            assert "the sandbox did not start" in str(found.explanation)
        script.scores["x"] = TaskScore(True, 1.0)
        (found,) = await checker.check(sample(rule(MATH), "x", "s2"))
        assert found is not None
        assert found.status is VerdictStatus.MET
        await checker.close()
        rows = ledger.rows()
    assert [(row.status, row.probability) for row in rows] == [("unknown", None), ("unknown", None), ("met", 1.0)]
    assert len(script.asked) == 3


async def test_equal_answers_are_scored_once_and_other_golds_apart() -> None:
    script = Script({"3": TaskScore(True, 1.0), "4": TaskScore(False, 0.0)})
    checker = RuleChecker(tasks=TaskRule(scorer=script))
    await asyncio.gather(*(checker.check(sample(rule(MATH), "3", f"s{number}")) for number in range(5)))
    await checker.check(sample(rule(MATH), "4"))
    await checker.check(sample(rule(MathGold("math", "3.0")), "3"))
    assert script.asked == [(MATH, "3"), (MATH, "4"), (MathGold("math", "3.0"), "3")]
    await checker.close()
    assert script.closed == 1


async def test_a_gold_that_cannot_be_read_is_no_answer_of_the_policy() -> None:
    script = Script({})
    found = await verdict(script, Rule.parse({"name": "task", "gold": "{}", "metric": "exact"}), "3")
    assert found.status is VerdictStatus.UNKNOWN
    assert "bad_gold" in str(found.explanation)
    assert script.asked == []


def test_only_known_metrics_are_taken() -> None:
    for change in ({"metric": "bleu"}, {"gold": 3}, {"seed": 1}):
        with pytest.raises(ContractError, match="task"):
            Rule.parse({"name": "task", "gold": to_json(MATH), "metric": "exact", **change})


def test_protocols_differ_by_gold_and_metric() -> None:
    names = {protocol(rule(QA)), protocol(rule(QA, "f1")), protocol(rule(MATH))}
    assert len(names) == 3
    assert protocol(rule(QA)) == protocol(rule(QA))


def test_a_finding_has_one_value() -> None:
    assert Finding(True).probability == 1.0
    assert Finding(False).probability == 0.0
    assert Finding(False, value=0.25).probability == 0.25
    assert Finding(None, "why").probability is None
    for wrong in ({"met": True, "value": 1.5}, {"met": None, "detail": "why", "value": 0.5}):
        with pytest.raises(ValueError, match="value"):
            Finding(**wrong)


ADD = CodeGold("mbpp", "Add two numbers.", None, "assert add(1, 2) == 3\nassert add(2, 2) == 4")


async def test_the_official_checks_decide() -> None:
    checker = RuleChecker(concurrency=1)
    cases = [
        (rule(MATH), r"So it is \boxed{\frac{6}{2}}.", 1.0),
        (rule(MATH), r"So it is \boxed{4}.", 0.0),
        (rule(MATH), "", 0.0),
        (rule(QA, "f1"), "The red house", 1.0),
        # Of "red barn" and "red house" one word of two is shared: precision and recall are one half.
        (rule(QA, "f1"), "red barn", 0.5),
        (rule(QA), "red barn", 0.0),
        (rule(QaGold("squad2", ()), "f1"), "no answer", 1.0),
        (rule(ADD), "```python\ndef add(a, b):\n    return a + b\n```", 1.0),
        (rule(ADD), "```python\ndef add(a, b):\n    return a * b\n```", 0.0),
        # Whoever ends the process before the tests has passed none.
        (rule(ADD), "```python\nimport os\nos._exit(0)\n```", 0.0),
        (rule(ADD), "I do not know.", 0.0),
    ]
    found = await asyncio.gather(
        *(checker.check(sample(asked, text, str(n))) for n, (asked, text, _) in enumerate(cases))
    )
    await checker.close()
    assert [verdict.probability for [verdict] in found if verdict is not None] == [value for *_, value in cases]


async def test_checks_do_not_hold_up_the_event_loop() -> None:
    """While a program runs into its limit, others are answered."""
    limited = CodeRunner(Limits(cpu_seconds=1, wall_seconds=60.0), concurrency=1)
    checker = RuleChecker(tasks=TaskRule(scorer=TaskScorer(code=limited)))
    slow = asyncio.create_task(checker.check(sample(rule(ADD), "```python\nwhile True:\n    pass\n```")))
    (quick,) = await checker.check(sample(rule(QA), "the red house"))
    assert quick is not None
    assert quick.status is VerdictStatus.MET
    assert not slow.done()
    (found,) = await slow
    await checker.close()
    assert found is not None
    assert (found.status, found.probability) == (VerdictStatus.UNMET, 0.0)
