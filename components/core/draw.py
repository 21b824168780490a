"""What training needs to draw a mixture in its shares: ``draw.json`` beside the training table."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from components.core.errors import ContractError

NAME: Final = "draw.json"
_REMEDY: Final = "run the step prepare-data again"


@dataclasses.dataclass(frozen=True, slots=True)
class DrawPlan:
    """How batches are drawn.

    Attributes:
        weights: domain -> weight; only the ratios count.
        domains: set -> its domain. Rows of the training table belong to a set by their ``data_source``.
        by_size: whether the sets of a domain share it by their numbers of rows, and not equally.
        repeat_cap: most times that one row is drawn.

    Raises:
        ContractError: a weight is no number of at least 0, none with a set is above it, a set's domain has no weight,
            or the cap is below 1.
    """

    weights: Mapping[str, float]
    domains: Mapping[str, str]
    by_size: bool
    repeat_cap: int

    def __post_init__(self) -> None:
        if not all(math.isfinite(weight) and weight >= 0 for weight in self.weights.values()):
            raise ContractError(f"weights must be numbers of at least 0, got {dict(self.weights)}")
        for name, domain in self.domains.items():
            if domain not in self.weights:
                raise ContractError(f"set {name} is of domain {domain!r}, which has no weight")
        if not any(self.weights[domain] for domain in self.domains.values()):
            raise ContractError("no set is of a domain with a weight above 0, so nothing is drawn")
        if self.repeat_cap < 1:
            raise ContractError(f"repeat_cap must be at least 1, got {self.repeat_cap}")

    def drawn_from(self) -> list[str]:
        """The sets whose domain has a weight above 0, by name."""
        return sorted(name for name, domain in self.domains.items() if self.weights[domain] > 0)

    @classmethod
    def parse(cls, value: object, *, where: str = "") -> "DrawPlan":
        """Read the plan from decoded JSON: ``weights``, ``sets`` (each an object with its ``domain``), ``within``
        (equal or by_size) and ``repeat_cap``; further keys are for people.

        Raises:
            ContractError: a key is missing or of another type, or the plan cannot be.
        """
        try:
            match value:
                case {
                    "weights": dict(weights),
                    "sets": dict(sets),
                    "within": ("equal" | "by_size") as within,
                    "repeat_cap": int(cap),
                } if all(type(weight) in (int, float) for weight in weights.values()):
                    domains = {name: each["domain"] for name, each in sets.items()}
                    floats = {name: float(weight) for name, weight in weights.items()}
                    return cls(floats, domains, within == "by_size", cap)
        except ContractError as error:
            raise ContractError(error.what, where=where, remedy=_REMEDY) from error
        except (TypeError, KeyError) as error:
            raise ContractError(f"a set has no domain ({error!r})", where=where, remedy=_REMEDY) from error
        what = "it must be an object with weights, sets, within and repeat_cap"
        raise ContractError(what, where=where, remedy=_REMEDY)


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
        raise ContractError(f"it cannot be read: {error}", where=str(path), remedy=_REMEDY) from error
    return DrawPlan.parse(value, where=str(path))
