"""Whether a program passes its tests, found out in two sandboxes: one has the program, the other one the tests.

The program never shares a process with the tests, never sees their text, and gets no value to compare: what it answers
is copied to the tests as plain values. So it can fail, but not forge a pass.
"""

import asyncio
import dataclasses
import os
import socket
from pathlib import Path
from types import ModuleType
from typing import Final

from components.core.errors import ServiceError
from components.core.text import as_text
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON, Failure, FailureKind, Outcome
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import Prelude
from components.tasks import code_candidate, code_handles, code_referee, code_wire
from components.tasks.code_text import program_text
from components.tasks.gold import CodeGold

LIMITS: Final = Limits(cpu_seconds=15, wall_seconds=60.0, memory_bytes=1 << 30, file_bytes=16 << 20, shut_files=True)
"""Of the program: id 123 of MBPP takes 4 to 5 seconds alone, and several times as long on a busy machine."""
_TESTS_LONGER: Final = 15
"""Seconds that the tests have beyond the program's limit."""
_INFRASTRUCTURE: Final = frozenset({FailureKind.KILLED})
"""Ends that no program can bring about by itself."""
_ATTEMPTS: Final = 2
_TRUSTED: Final = frozenset({"humaneval", "mbpp"})
"""Sets whose tests end well within the limits for every right program, as their official solutions show: where they do
not, it is for a value that the program gave them."""
_TOLD: Final = {
    FailureKind.TIMEOUT: "time_limit",
    FailureKind.MEMORY: "memory_limit",
    FailureKind.TOO_LARGE: "output_limit",
}


@dataclasses.dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What the tests found.

    Attributes:
        passed: True when all tests were run and passed; False when the program is wrong, breaks off, exceeds its limits
            or meddles; None when the sandbox failed or the tests themselves cannot be run.
        reason: one word: passed, failed, raised, not_loaded, lacking, ended, spoiled, time_limit, memory_limit,
            output_limit, tests or sandbox.
        detail: the same for a reader, such as the assertion that failed.
        seconds: wall time of both sides, from the moment that they had a core.
    """

    passed: bool | None
    reason: str
    detail: str
    seconds: float


class CodeRunner:
    """Runs programs against their tests, as many at once as there are cores. What holds on this machine is told by
    :func:`components.sandbox.isolation.isolation`; where nothing holds, nothing is run, and outcomes are unknown.

    Args:
        limits: of the program; the tests have the same, and some seconds more.
        concurrency: programs at once; None for as many as this process has cores.
        level: kind of isolation; None for the strongest that this machine permits.
    """

    def __init__(
        self, limits: Limits | None = None, *, concurrency: int | None = None, level: str | None = None
    ) -> None:
        ours = dataclasses.replace(limits or LIMITS, shut_files=True)
        at_once = concurrency or len(os.sched_getaffinity(0))
        longer = dataclasses.replace(
            ours,
            cpu_seconds=ours.cpu_seconds + _TESTS_LONGER,
            wall_seconds=ours.wall_seconds + _TESTS_LONGER,
            memory_bytes=max(ours.memory_bytes, LIMITS.memory_bytes),
        )
        self._programs = Sandbox(ours, concurrency=at_once, level=level, prelude=_prelude(code_wire, code_candidate))
        self._tests = Sandbox(
            longer, concurrency=at_once, level=level, prelude=_prelude(code_wire, code_handles, code_referee)
        )
        self._slots = asyncio.Semaphore(at_once)
        self._starting = asyncio.Lock()
        self._started = False

    async def run(self, gold: CodeGold, response: str) -> CodeOutcome:
        """Run a response's program against its tests.

        Args:
            gold: the tests.
            response: the model's text, or the program itself.
        """
        source = gold.dataset == "humaneval"
        task: dict[str, JSON] = {
            "prompt": gold.prompt if source else "",
            "trusted": source,
            "helpers": gold.helpers,
            "setup": gold.setup,
            "tests": gold.tests,
            "entry_point": gold.entry_point,
            "code": program_text(response, gold.entry_point),
            "proven": gold.dataset in _TRUSTED,
        }
        async with self._slots:
            for left in reversed(range(_ATTEMPTS)):
                outcome = await self._tried(task)
                if outcome.reason != "sandbox" or not left:
                    break
        return outcome

    async def _start(self) -> None:
        """Start both sides ahead, so that no program's time runs while its tests' interpreter starts."""
        async with self._starting:
            if not self._started:
                await asyncio.gather(*(asyncio.to_thread(each.start) for each in (self._programs, self._tests)))
                self._started = True

    async def _tried(self, task: dict[str, JSON]) -> CodeOutcome:
        try:
            await self._start()
        except ServiceError as error:
            return CodeOutcome(None, "sandbox", str(error), 0.0)
        begun = asyncio.get_running_loop().time()
        ours, theirs = socket.socketpair()
        program, tests = await asyncio.gather(
            self._programs.run("", "serve", [], peer=ours, leashed=True),
            self._tests.run("", "judge", [task], peer=theirs),
            return_exceptions=True,
        )
        passed, reason, detail = _judged(program, tests, proven=task["proven"] is True)
        # Part of it are words of the program.
        return CodeOutcome(passed, reason, as_text(detail), asyncio.get_running_loop().time() - begun)

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(self._programs.close(), self._tests.close())


def _judged(
    program: Outcome | BaseException, tests: Outcome | BaseException, *, proven: bool = False
) -> tuple[bool | None, str, str]:
    """``passed``, ``reason`` and ``detail``; ``proven``: right programs never bring the tests to their limits."""
    for each in (program, tests):
        if isinstance(each, ServiceError):
            return None, "sandbox", str(each)
        if isinstance(each, BaseException):
            raise each
    assert not isinstance(program, BaseException)
    assert not isinstance(tests, BaseException)
    if isinstance(tests, Failure):
        if proven and tests.kind in _TOLD:
            return False, _TOLD[tests.kind], f"the tests, for what the program answered: {tests.detail}"
        kind = "sandbox" if tests.kind in _INFRASTRUCTURE else "tests"
        return None, kind, f"the tests' process: {tests.detail}"
    if not isinstance(tests.value, dict):
        return None, "sandbox", "the tests' process gave no verdict"
    passed, reason, detail = (tests.value.get(name) for name in ("passed", "reason", "detail"))
    if passed is True:
        return True, str(reason), str(detail)
    if reason == "ended" and isinstance(program, Failure):
        if program.kind in _INFRASTRUCTURE:
            return None, "sandbox", f"the program's process: {program.detail}"
        return False, _TOLD.get(program.kind, "ended"), program.detail
    return (False if passed is False else None), str(reason), str(detail)


def _prelude(*modules: ModuleType) -> Prelude:
    """Source of the last module, and of those of ours that it imports before it; a sandbox finds no file of ours."""
    parts = ["import sys, types"]
    for module in modules:
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        parts.append(
            f"module = sys.modules[{module.__name__!r}] = types.ModuleType({module.__name__!r})\n"
            f"exec(compile({text!r}, {Path(str(module.__file__)).name!r}, 'exec', dont_inherit=True), module.__dict__)"
        )
    parts.append("globals().update({name: each for name, each in vars(module).items() if name in ('serve', 'judge')})")
    return Prelude("\n".join(parts))
