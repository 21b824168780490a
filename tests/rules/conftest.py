"""One checker for all tests of a module: its processes take a second to start."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from components.judge.rule import Argument, Rule
from components.judge.verdict import Criterion, Sample, Verdict
from components.rules.checker import RuleChecker
from components.sandbox.limits import Limits

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

Decide = Callable[..., Verdict]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def checker(runner: asyncio.Runner) -> Iterator[RuleChecker]:
    checker = RuleChecker(
        limits=Limits(cpu_seconds=1, wall_seconds=2.0),
        math_limits=Limits(cpu_seconds=1, wall_seconds=20.0, memory_bytes=1 << 30, open_files=128),
        concurrency=1,
    )
    yield checker
    runner.run(checker.close())


@pytest.fixture(scope="module")
def decide(runner: asyncio.Runner, checker: RuleChecker) -> Decide:
    """The verdict of one rule, named with its arguments, on one response."""

    def decided(name: str, response: str, *, question: str = "Write.", **arguments: Argument) -> Verdict:
        rule = Rule.parse({"name": name, **arguments})
        sample = Sample("row", "sample", question, response, (Criterion("a rule", verifier="rule", rule=rule),))
        (verdict,) = runner.run(checker.check(sample))
        assert verdict is not None
        return verdict

    return decided
