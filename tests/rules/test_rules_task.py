"""Rule ``task``: what the official check finds becomes a verdict, whose probability may be an F1."""

import asyncio
import dataclasses
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
from components.tasks.gold import MathGold, QaGold, TaskGold, to_json

QA = QaGold("squad2", ("the red house", "a house"))
MATH = MathGold("math", "3")


@dataclasses.dataclass(frozen=True)
class Scored:
    correct: bool | None
    exact: float | None = None
    f1: float | None = None
    answer: str | None = None
    detail: str = ""


class Script:
    """Scores by a table, and counts."""

    def __init__(self, scores: dict[str, Scored]) -> None:
        self.scores = scores
        self.asked: list[tuple[TaskGold, str]] = []
        self.closed = 0

    async def score(self, gold: TaskGold, response: str) -> Scored:
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
        ("exact", Scored(True, 1.0, 1.0), VerdictStatus.MET, 1.0),
        ("exact", Scored(False, 0.0, 0.8), VerdictStatus.UNMET, 0.0),
        # "red house" against "the red house" is exact without the article; "red barn" shares one word of two: 0.5.
        ("f1", Scored(False, 0.0, 0.5), VerdictStatus.UNMET, 0.5),
        ("f1", Scored(True, 1.0, 1.0), VerdictStatus.MET, 1.0),
        ("f1", Scored(False, 0.0, None), VerdictStatus.UNMET, 0.0),
    ],
)
async def test_the_metric_is_the_probability(
    metric: str, scored: Scored, status: VerdictStatus, probability: float
) -> None:
    found = await verdict(Script({"red barn": scored}), rule(QA, metric), "red barn")
    assert (found.status, found.probability, found.judge, found.reason) == (status, probability, "rule", None)
    assert found.protocol.startswith("rule/task/")


async def test_what_could_not_be_run_is_unknown_and_asked_again(tmp_path: Path) -> None:
    script = Script({"x": Scored(None, detail="the sandbox did not start")})
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        checker = RuleChecker(ledger, tasks=TaskRule(scorer=script))
        for number in range(2):
            (found,) = await checker.check(sample(rule(MATH), "x", f"s{number}"))
            assert found is not None
            assert (found.status, found.probability) == (VerdictStatus.UNKNOWN, None)
            assert found.reason is UnknownReason.RULE_FAILED
            assert "the sandbox did not start" in str(found.explanation)
        script.scores["x"] = Scored(True, 1.0)
        (found,) = await checker.check(sample(rule(MATH), "x", "s2"))
        assert found is not None
        assert found.status is VerdictStatus.MET
        await checker.close()
        rows = ledger.rows()
    assert [(row.status, row.probability) for row in rows] == [("unknown", None), ("unknown", None), ("met", 1.0)]
    assert len(script.asked) == 3


async def test_equal_answers_are_scored_once_and_other_golds_apart() -> None:
    script = Script({"3": Scored(True, 1.0), "4": Scored(False, 0.0)})
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
