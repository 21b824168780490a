"""Computer algebra in a sandbox: SymPy can be led into endless work, and evaluates text."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import Outcome
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import Prelude
from components.tasks import math_check

PACKAGES: Final = ("math-verify", "latex2sympy2_extended", "sympy")
"""Distributions whose versions decide what is equal."""
_MODULES: Final = ("math_verify", "latex2sympy2_extended", "sympy", "mpmath", "antlr4")
LIMITS: Final = Limits(cpu_seconds=5, wall_seconds=30.0, memory_bytes=1 << 30, open_files=128)
_WARM_UP: Final = r"""
for one, other in (
    (r"1/2", r"Thus $x = 3$, and \boxed{\frac{1}{2}}"),
    (r"3", r"The answer is 3, not 12.5 or 50%."),
    (r"\frac{\sqrt{3}}{2}", r"\boxed{\frac{\sqrt{5}}{2}}"),
    (r"x^2+2x+1", r"\boxed{(x+2)^2}"),
    (r"[1,2)", r"\boxed{(1,2)}"),
    (r"\{1,2\}", r"\boxed{\{1,3\}}"),
    (r"x=5", r"\boxed{x=6}"),
    (r"x<5", r"\boxed{x>5}"),
    (r"\sin(x)", r"\boxed{\cos(x) + \pi i}"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\boxed{\begin{pmatrix} 1 \\ 3 \end{pmatrix}}"),
    (r"\text{east}", r"\boxed{\text{west}}"),
):
    _any_equal(_gold(one), _read(other))
"""
"""Makes the packages load, before calls are forked, what they otherwise load in each call: a second for some."""
_MOST_AT_ONCE: Final = 8
"""Each warm SymPy takes some 100 MiB."""


class MathWorker:
    """Runs the functions of :mod:`components.tasks.math_check`, each call in a process that can be ended.

    Args:
        limits: of one call; None for :data:`LIMITS`.
        concurrency: calls at once; None for as many as there are cores.

    Raises:
        ServiceError: math-verify or what it needs is not installed.
    """

    def __init__(self, limits: Limits | None = None, concurrency: int | None = None) -> None:
        source = Path(math_check.__file__).read_text(encoding="utf-8") + _WARM_UP
        at_once = min(concurrency or len(os.sched_getaffinity(0)), _MOST_AT_ONCE)
        self._sandbox = Sandbox(limits or LIMITS, concurrency=at_once, prelude=Prelude(source, folders_of(_MODULES)))

    async def check(self, answer: str, box: str | None, context: str) -> Outcome:
        """:func:`components.tasks.math_check.check`: True or False, whatever goes wrong being a failure."""
        return await self._sandbox.run("", "check", [answer, box, context])

    async def compare(self, answer: str, box: str | None, context: str) -> Outcome:
        """:func:`components.tasks.math_check.compare`: equal, different, or whose expression cannot be read."""
        return await self._sandbox.run("", "compare", [answer, box, context])

    async def close(self) -> None:
        """End the processes."""
        await self._sandbox.close()


def folders_of(modules: Sequence[str]) -> tuple[Path, ...]:
    """Where these are imported from.

    Raises:
        ServiceError: one is not installed.
    """
    found: dict[Path, None] = {}
    for name in modules:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ServiceError(
                f"the module {name} is not installed, which mathematical answers need",
                remedy="install images/locks/local.txt (make setup does)",
            )
        found[Path(spec.origin).parent.parent] = None
    return tuple(found)
