"""Verdicts line by line, their names, the ledger's rows, and what is not checked twice."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from components.core.contracts import VERDICTS
from components.core.errors import ServiceError
from components.judge.memory import Ledger
from components.judge.rule import Rule
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus
from components.rules import checker as module
from components.rules import version
from components.rules.checker import RuleChecker
from components.rules.finding import Finding
from components.sandbox.limits import Limits
from components.tasks import math_worker

SHORT = Rule.parse({"name": "word_count_range", "min_count": 1, "max_count": 3})
LONG = Rule.parse({"name": "word_count_range", "min_count": 4, "max_count": 9})
HEAD = "def check_following(instruction, response):\n    "


def python(body: str) -> Rule:
    return Rule.parse({"name": "python", "function": HEAD + body})


def sample(*rules: Rule | None, response: str = "A cat sleeps.", sample_id: str = "s1") -> Sample:
    lines = tuple(
        Criterion(f"line {index}", verifier="llm" if rule is None else "rule", rule=rule)
        for index, rule in enumerate(rules)
    )
    return Sample("r1", sample_id, "Write.", response, lines)


async def test_one_verdict_a_line_and_none_for_the_judges(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        checker = RuleChecker(ledger, concurrency=1)
        asked = sample(None, SHORT, LONG, python("return 1/0"), None, python("return True"))
        verdicts = await checker.check(asked)
        await checker.close()
        statuses = [None if verdict is None else verdict.status.value for verdict in verdicts]
        assert statuses == [None, "met", "unmet", "unknown", None, "met"]
        rows = ledger.rows()
        failures = ledger.failures()
        ledger.export_parquet(tmp_path / "verdicts.parquet")
    assert [(row.criterion_index, row.criterion, row.status) for row in rows] == [
        (1, "line 1", "met"),
        (2, "line 2", "unmet"),
        (3, "line 3", "unknown"),
        (5, "line 5", "met"),
    ]
    assert {row.judge for row in rows} == {"rule"}
    assert [row.probability for row in rows] == [1.0, 0.0, None, 1.0]
    assert [row.reason for row in rows] == [None, None, "rule_failed", None]
    assert {(row.sample_id, row.row_id, row.response_chars, row.prompt_tokens) for row in rows} == {("s1", "r1", 13, 0)}
    ((failed, detail, body),) = failures
    assert (failed, body) == ("s1", None)
    assert "line 4: exception: ZeroDivisionError" in detail
    assert pq.read_schema(tmp_path / "verdicts.parquet").names == VERDICTS.names


async def test_rubric_without_rules_asks_and_writes_nothing(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert await RuleChecker(ledger).check(sample(None, None)) == [None, None]
        assert ledger.rows() == []


async def test_protocol_names_the_rule_and_changes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [version.protocol(rule) for rule in (SHORT, LONG, python("return True"), python("return False"))]
    assert len(set(names)) == 4
    assert all(re.fullmatch(r"rule/(word_count_range|python)/[0-9a-f]{12}", name) for name in names)
    verdicts = await RuleChecker().check(sample(SHORT))
    assert verdicts[0] is not None
    assert verdicts[0].protocol == names[0]
    monkeypatch.setattr(version, "_behind", lambda _: "other code")
    assert version.protocol(SHORT) != names[0]


class Counted:
    """Stands for the rules' processes, and counts."""

    def __init__(self, *findings: Finding) -> None:
        self.findings = list(findings)
        self.calls: list[tuple[str, str]] = []

    async def check(self, rule: Rule, question: str, response: str) -> Finding:
        self.calls.append((question, response))
        await asyncio.sleep(0.01)
        return self.findings[min(len(self.calls), len(self.findings)) - 1]

    async def close(self) -> None:
        pass


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    made = Counted(Finding(True))
    monkeypatch.setattr(module, "PythonRule", lambda *_: made)
    return made


async def test_equal_checks_are_made_once(counted: Counted) -> None:
    checker, rule = RuleChecker(), python("return True")
    together = await asyncio.gather(*(checker.check(sample(rule, sample_id=f"s{n}")) for n in range(5)))
    later = await checker.check(sample(rule, sample_id="s9"))
    assert len(counted.calls) == 1
    verdicts = [verdict for found in (*together, later) for verdict in found if verdict is not None]
    assert [verdict.status for verdict in verdicts] == [VerdictStatus.MET] * 6
    assert [verdict.attempts for verdict in verdicts] == [1, 0, 0, 0, 0, 0]


async def test_what_differs_is_checked(counted: Counted) -> None:
    checker = RuleChecker()
    await checker.check(sample(python("return True")))
    await checker.check(sample(python("return True"), response="Other."))
    await checker.check(sample(python("return 1 == 1")))
    question = Sample("r1", "s1", "Another question.", "A cat sleeps.", sample(python("return True")).criteria)
    await checker.check(question)
    assert len(counted.calls) == 4


async def test_failures_of_time_are_tried_again_and_others_are_not(counted: Counted) -> None:
    counted.findings = [Finding(None, "timeout: x", passing=True), Finding(None, "exception: y"), Finding(True)]
    checker, asked = RuleChecker(), sample(python("return True"))
    found = [await checker.check(asked) for _ in range(4)]
    assert [verdict.explanation for (verdict,) in found if verdict is not None] == ["timeout: x"] + ["exception: y"] * 3
    assert len(counted.calls) == 2


async def test_limits_reach_the_sandbox() -> None:
    checker = RuleChecker(limits=Limits(value_bytes=1, wall_seconds=0.3), concurrency=1)
    (verdict,) = await checker.check(sample(python("import time; time.sleep(60)")))
    await checker.close()
    assert verdict is not None
    assert verdict.reason is UnknownReason.RULE_FAILED
    assert "0.3 s" in str(verdict.explanation)


def test_sympy_is_loaded_in_the_sandbox_alone() -> None:
    script = "import sys, components.rules.checker; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd=Path(__file__).parents[2]).returncode == 0


def test_missing_package_is_told_and_nothing_is_judged() -> None:
    with pytest.raises(ServiceError, match="no_such_package"):
        math_worker.folders_of(("json", "no_such_package"))


@pytest.mark.parametrize("wrong", [(None, ""), (True, "why")])
def test_a_finding_is_an_answer_or_a_reason(wrong: tuple[bool | None, str]) -> None:
    with pytest.raises(ValueError, match="yes or no"):
        Finding(*wrong)
