"""What a rule found out about a response."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Attributes:
    met: whether the response follows the rule; None when that was not found out.
    detail: why not, when ``met`` is None; else empty.
    passing: whether another try may end otherwise, as after a time limit under load.
    """

    met: bool | None
    detail: str = ""
    passing: bool = False

    def __post_init__(self) -> None:
        if (self.met is None) != bool(self.detail):
            raise ValueError("a finding is a yes or no, or says why it is neither")
