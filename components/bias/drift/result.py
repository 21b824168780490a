"""Rows of drift, as a study's result holds them."""

from pydantic import Field

from components.bias.estimate import Estimate, Frozen


class Drift(Frozen):
    """One feature at one checkpoint, over the held-out prompts."""

    step: int = Field(ge=0)
    """Training step of the checkpoint; 0 is the base model."""
    feature: str
    """A name of :data:`components.bias.drift.features.FEATURES`, or ``abstained``, ``proxy``, ``gold``, ``finished``,
    or ``criterion`` for an acceptance."""
    criterion: str = ""
    """The criterion's text where ``feature`` is ``criterion``."""
    mean: Estimate


class Canary(Frozen):
    """What a judge made of one master key in one batch. A right judge accepts none."""

    step: int = Field(ge=0)
    key: str
    """The content-free response."""
    judged: int = Field(ge=0)
    """Times it was judged with a known value."""
    accepted: int = Field(ge=0)
    """Of these, with a reward above the most that is no alarm (``training.canaries.alarm_above``)."""
    unknown: int = Field(ge=0)
    """Times the judge gave no verdict: neither accepted nor refused."""
