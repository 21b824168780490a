"""The judge as the rest of the project sees it."""

from typing import Protocol

from components.judge.verdict import Sample, Verdict


class Judge(Protocol):
    """Decides criteria. A failure is an unknown verdict with a reason, never an exception and never a number."""

    async def judge(self, sample: Sample) -> list[Verdict]:
        """One verdict a criterion, in the order of ``sample.criteria``."""
        ...

    async def close(self) -> None:
        """Release the connections."""
        ...
