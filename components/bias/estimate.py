"""A number of a study, which never travels without its n and its interval."""

import math
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Frozen(BaseModel):
    """A part of a study's result: fixed once made, no unknown fields, no number that is not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Estimate(Frozen):
    """An estimate; what is unknown is None and says why, never a number."""

    value: float | None
    """In the measure's own unit; None where it is unknown."""
    low: float | None = None
    """Lower end of the interval; None where none can be drawn."""
    high: float | None = None
    """Its upper end."""
    n: int = Field(ge=0)
    """Known observations that it rests on."""
    clusters: int | None = Field(default=None, ge=0)
    """Independent units among them (texts, prompts, arms); None where each observation is one."""
    unknown: int = Field(default=0, ge=0)
    """Observations left out because they are unknown."""
    why: str = ""
    """Why there is no value, or no interval; empty where both are there."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if self.value is None and self.low is not None:
            raise ValueError("there is an interval of a value that is unknown")
        if self.value is not None and self.n == 0:
            raise ValueError(f"the value {self.value} rests on nothing (n = 0)")
        if (self.value is None or self.low is None) and not self.why:
            raise ValueError("say in `why` why there is no value, or no interval")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the interval runs from {self.low} to {self.high}")
        if self.clusters is not None and self.clusters > self.n:
            raise ValueError(f"{self.clusters} clusters of {self.n} observations")
        return self

    @classmethod
    def missing(cls, why: str, *, unknown: int = 0) -> "Estimate":
        """An unknown number, and why."""
        return cls(value=None, n=0, unknown=unknown, why=why)

    @classmethod
    def of(
        cls,
        value: float | None,
        low: float | None = None,
        high: float | None = None,
        *,
        n: int,
        clusters: int | None = None,
        unknown: int = 0,
        why: str = "no interval could be drawn",
    ) -> "Estimate":
        """From a statistic's parts, where any that is no finite number counts as none.

        Args:
            value: the estimate.
            low: lower end of its interval.
            high: its upper end.
            n: known observations.
            clusters: independent units among them.
            unknown: observations left out.
            why: kept only where the value or an end is missing.
        """
        value = _finite(value)
        low, high = (_finite(low), _finite(high)) if value is not None else (None, None)
        if low is None or high is None:
            low = high = None
        return cls(
            value=value,
            low=low,
            high=high,
            n=n,
            clusters=clusters,
            unknown=unknown,
            why="" if low is not None else why,
        )

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval, and it lies on one side of 0."""
        return self.low is not None and self.high is not None and (self.low > 0.0 or self.high < 0.0)


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
