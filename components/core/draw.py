"""What training needs to draw a mixture in its shares: ``draw.json`` beside the training table."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from components.core.errors import ContractError

NAME: Final = "draw.json"
Within = Literal["equal", "by_size"]


@dataclasses.dataclass(frozen=True, slots=True)
class DrawPlan:
    """How batches are drawn.

    Attributes:
        weights: domain -> weight; only the ratios count.
        sets: set -> its domain. Rows of the training table belong to a set by their ``data_source``.
        within: how the sets of a domain share it.
        repeat_cap: most times that one row is drawn.

    Raises:
        ContractError: no weight is above 0, one is no number at least 0, a set's domain has no weight, or the cap is
            below 1.
    """

    weights: Mapping[str, float]
    sets: Mapping[str, str]
    within: Within
    repeat_cap: int

    def __post_init__(self) -> None:
        if not all(math.isfinite(weight) and weight >= 0 for weight in self.weights.values()):
            raise ContractError(f"weights must be numbers of at least 0, got {dict(self.weights)}")
        if not any(self.weights.values()):
            raise ContractError("no domain has a weight above 0, so nothing is drawn")
        for name, domain in self.sets.items():
            if domain not in self.weights:
                raise ContractError(f"set {name} is of domain {domain!r}, which has no weight")
        if self.within not in ("equal", "by_size"):
            raise ContractError(f"within is equal or by_size, got {self.within!r}")
        if self.repeat_cap < 1:
            raise ContractError(f"repeat_cap must be at least 1, got {self.repeat_cap}")

    def to_json_value(self) -> dict[str, Any]:
        """The object that :meth:`parse` reads back."""
        return {
            "weights": dict(self.weights),
            "sets": dict(self.sets),
            "within": self.within,
            "repeat_cap": self.repeat_cap,
        }

    @classmethod
    def parse(cls, value: object, *, where: str = "") -> "DrawPlan":
        """Read the plan from decoded JSON; further keys, such as counts for people, are passed over.

        Raises:
            ContractError: a key is missing or of another type, or the plan cannot be.
        """
        try:
            match value:
                case {
                    "weights": dict(weights),
                    "sets": dict(sets),
                    "within": "equal" | "by_size" as within,
                    "repeat_cap": int(cap),
                } if all(type(weight) in (int, float) for weight in weights.values()) and all(
                    isinstance(domain, str) for domain in sets.values()
                ):
                    floats = {name: float(weight) for name, weight in weights.items()}
                    return cls(floats, dict(sets), within, cap)
        except ContractError as error:
            raise ContractError(error.what, where=where, remedy="run the step prepare-data again") from error
        raise ContractError(
            "it must be an object with weights, sets (set -> domain), within and repeat_cap",
            where=where,
            remedy="run the step prepare-data again",
        )


def read_plan(path: Path) -> DrawPlan:
    """The plan in a published folder of prepare-data.

    Args:
        path: of ``draw.json``.

    Raises:
        ContractError: it is missing, no JSON, or no plan.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ContractError(
            f"it cannot be read: {error}", where=str(path), remedy="run the step prepare-data again"
        ) from error
    return DrawPlan.parse(value, where=str(path))
