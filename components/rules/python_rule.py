"""Rule ``python``: a function that came with the data, ``check_following(instruction, response) -> bool``."""

import re
import textwrap
from typing import Final

from components.judge.rule import Rule
from components.rules.finding import Finding
from components.rules.outcomes import finding
from components.sandbox.limits import Limits
from components.sandbox.sandbox import Sandbox

FUNCTION: Final = "check_following"
_FENCE: Final = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*(?:python3?|py)?[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.I | re.M | re.S
)


class PythonRule:
    """Runs rule functions in a sandbox.

    Args:
        limits: of each call.
        concurrency: calls at once; None for as many as there are cores.
    """

    def __init__(self, limits: Limits | None = None, concurrency: int | None = None) -> None:
        self._sandbox = Sandbox(limits, concurrency=concurrency)

    async def check(self, rule: Rule, question: str, response: str) -> Finding:
        """What the rule's function says of the response.

        Args:
            rule: its ``function`` is the source.
            question: the instruction's text, as the function's first argument.
            response: its second one.
        """
        return finding(await self._sandbox.run(plain_source(str(rule["function"])), FUNCTION, [question, response]))

    async def close(self) -> None:
        """End the processes."""
        await self._sandbox.close()


def plain_source(text: str) -> str:
    """The Python source in a text that may hold it in a fenced block of Markdown, or indented as a whole.

    Of several blocks the first that defines the function is taken.
    """
    text = text.replace("\r\n", "\n")
    blocks = [match.group(2) for match in _FENCE.finditer(text)]
    source = next((block for block in blocks if f"def {FUNCTION}" in block), text)
    return textwrap.dedent(source)
