"""Rule ``math_verify``: whether the response's last answer equals the expected one, by computer algebra alone."""

from components.judge.rule import Rule
from components.rules.finding import Finding
from components.rules.outcomes import finding
from components.sandbox.limits import Limits
from components.tasks.boxes import last_boxed
from components.tasks.math_worker import MathWorker

_TAIL = 2000
"""Characters at the end of a response without a box that are searched for an answer."""


class MathRule:
    """Checks against ``answer``.

    Args:
        limits: of one check; None for :data:`components.tasks.math_worker.LIMITS`.
        concurrency: checks at once; None for as many as there are cores.
    """

    def __init__(self, limits: Limits | None = None, concurrency: int | None = None) -> None:
        self._worker = MathWorker(limits, concurrency)

    async def check(self, rule: Rule, response: str) -> Finding:
        """Whether the response's last box, or its last answer where it has none, equals the rule's ``answer``."""
        return finding(await self._worker.check(str(rule["answer"]), last_boxed(response), response[-_TAIL:]))

    async def close(self) -> None:
        """End the processes."""
        await self._worker.close()
