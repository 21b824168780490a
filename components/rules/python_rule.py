"""Rule ``python``: a function that came with the data, ``check_following(instruction, response) -> bool``."""

from pathlib import Path

from components.judge.rule import LONGEST_FUNCTION, Rule
from components.rules import python_source
from components.rules.finding import Finding
from components.rules.outcomes import finding
from components.sandbox.limits import Limits
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import Prelude


class PythonRule:
    """Runs rule functions in a sandbox, where their text is also looked at first.

    Args:
        limits: of each call.
        concurrency: calls at once; None for as many as there are cores.
    """

    def __init__(self, limits: Limits | None = None, concurrency: int | None = None) -> None:
        prelude = Prelude(Path(python_source.__file__).read_text(encoding="utf-8"))
        self._sandbox = Sandbox(limits, concurrency=concurrency, prelude=prelude)

    async def check(self, rule: Rule, question: str, response: str) -> Finding:
        """What the rule's function says of the response.

        Args:
            rule: its ``function`` is the source.
            question: the instruction's text, as the function's first argument.
            response: its second one.
        """
        text = str(rule["function"])
        if len(text) > LONGEST_FUNCTION:
            return Finding(None, f"too_large: a function of {len(text)} characters; at most {LONGEST_FUNCTION}")
        return finding(await self._sandbox.run("", "check", [text, question, response]))

    async def close(self) -> None:
        """End the processes."""
        await self._sandbox.close()
