"""Rule ``math_verify``: compares in a sandbox, since SymPy can be led into endless work, and evaluates text."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from components.core.errors import ServiceError
from components.judge.rule import Rule
from components.rules import math_check
from components.rules.finding import Finding
from components.rules.outcomes import finding
from components.sandbox.limits import Limits
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import Prelude

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
    _equal(one, other)
"""
"""Makes the packages load, before calls are forked, what they otherwise load in each call: a second for some."""
_MOST_AT_ONCE: Final = 8
"""Each warm SymPy takes some 100 MiB."""


class MathRule:
    """Checks against ``answer``.

    Args:
        limits: of one check; None for :data:`LIMITS`.
        concurrency: checks at once; None for as many as there are cores.
    """

    def __init__(self, limits: Limits | None = None, concurrency: int | None = None) -> None:
        source = Path(math_check.__file__).read_text(encoding="utf-8") + _WARM_UP
        at_once = min(concurrency or len(os.sched_getaffinity(0)), _MOST_AT_ONCE)
        self._sandbox = Sandbox(limits or LIMITS, concurrency=at_once, prelude=Prelude(source, folders_of(_MODULES)))

    async def check(self, rule: Rule, response: str) -> Finding:
        """Whether the response's last box, or its last answer where it has none, equals the rule's ``answer``."""
        return finding(await self._sandbox.run("", "check", [rule["answer"], response]))

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
                f"the module {name} is not installed, which the rule math_verify needs",
                remedy="install images/locks/local.txt (make setup does)",
            )
        found[Path(spec.origin).parent.parent] = None
    return tuple(found)
