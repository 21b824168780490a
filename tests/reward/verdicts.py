"""Verdicts and rubric lines for tests."""

from components.judge.rule import Rule
from components.judge.verdict import Criterion, UnknownReason, Verdict, VerdictStatus

WORDS = Rule.parse({"name": "word_count_range", "min_count": 1, "max_count": 3})


def known(probability: float, judge: str = "j") -> Verdict:
    status = VerdictStatus.MET if probability > 0.5 else VerdictStatus.UNMET
    return Verdict(status, probability, None, None, judge, "p", 1)


def unknown(reason: UnknownReason = UnknownReason.TIMEOUT, judge: str = "j") -> Verdict:
    return Verdict(VerdictStatus.UNKNOWN, None, None, reason, judge, "p", 3)


def llm(text: str, points: float = 1.0) -> Criterion:
    return Criterion(text, points)


def rule(text: str, points: float = 1.0, checked: Rule = WORDS) -> Criterion:
    return Criterion(text, points, verifier="rule", rule=checked)


MET, UNMET = known(1.0), known(0.0)
PASSED, FAILED = known(1.0, "rule"), known(0.0, "rule")
BROKEN = unknown(UnknownReason.RULE_FAILED, "rule")
