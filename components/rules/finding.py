"""What a rule found out about a response."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Attributes:
    met: whether the response follows the rule; None when that was not found out.
    detail: why not, when ``met`` is None; else empty.
    passing: whether another try may end otherwise, as after a time limit under load.
    value: how far the response is right, in [0, 1], where that is more than yes or no; None elsewhere.
    """

    met: bool | None
    detail: str = ""
    passing: bool = False
    value: float | None = None

    def __post_init__(self) -> None:
        if (self.met is None) != bool(self.detail):
            raise ValueError("a finding is a yes or no, or says why it is neither")
        if self.value is not None and (self.met is None or not 0.0 <= self.value <= 1.0):
            raise ValueError(f"a finding's value lies in [0, 1] and is that of a yes or no, got {self.value}")

    @property
    def probability(self) -> float | None:
        """The value, else 1 for yes and 0 for no; None when that was not found out."""
        return self.value if self.value is not None or self.met is None else float(self.met)
