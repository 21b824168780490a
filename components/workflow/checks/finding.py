"""What a quick test found."""

import dataclasses
from collections.abc import Sequence
from typing import Final

_WIDTH: Final = 40
"""Characters of a name at least, so that several tables stand under each other."""


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        name: what was tried.
        works: None when it was not tried.
        text: what was seen.
        needed: whether the whole check fails without it.
    """

    name: str
    works: bool | None
    text: str
    needed: bool = True

    @property
    def fails(self) -> bool:
        """Whether this alone makes the check fail."""
        return self.needed and self.works is False


def table(findings: Sequence[Finding]) -> str:
    """The findings for people, a line each."""
    width = max([_WIDTH, *(len(each.name) for each in findings)])
    marks = {True: "ok", False: "NO", None: "-"}
    return "\n".join(f"{each.name:<{width}}  {marks[each.works]:<2}  {each.text}" for each in findings)
