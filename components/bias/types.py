"""What a probe shows to a judge, and what is kept of the answers."""

import dataclasses
import enum
from collections.abc import Mapping
from typing import Final

SHIPPED: Final = "shipped"
"""Source of the items that the project brings."""


class Mode(enum.StrEnum):
    """The three ways of asking, each with its own units of an outcome's value."""

    PAIRWISE = "pairwise"
    """Which of two is better, in both orders. Value: 1 for the form beside the base, 0.5 for a tie, 0 else."""
    POINTWISE = "pointwise"
    """A mark on a scale. Value: (mark - lowest) / (highest - lowest), in [0, 1]."""
    BINARY = "binary"
    """A rubric of yes/no criteria. Value: share of the criteria met, in [0, 1]."""


class Role(enum.StrEnum):
    """What stands beside the base of an item."""

    BASE = "base"
    """The response as it is."""
    CHANGED = "changed"
    """One factor changed, the content held fixed."""
    PLACEBO = "placebo"
    """A neutral paraphrase: as much text changed, the factor not."""
    WORSE = "worse"
    """A true loss of quality, the flip control: a judge that does not see it sees nothing."""


class Measure(enum.StrEnum):
    """What the effect of a probe is; 0 is an unbiased judge."""

    SHIFT = "shift"
    """Value of the changed form minus value of the placebo's, item by item."""
    FIRST_SLOT = "first_slot"
    """Preference for the first place minus one half; pairwise alone. A placebo has it too and is not subtracted."""
    ACCEPTANCE = "acceptance"
    """Value of a response without content: what a right judge gives is 0."""
    DISAGREEMENT = "disagreement"
    """Share of repetitions that contradict each other, minus that between two readings of one reply (0)."""
    FAILURE = "failure"
    """Share of failed calls of the changed form minus that of the placebo's: here failing is what is observed."""


AGAINST_PLACEBO: Final = frozenset({Measure.SHIFT, Measure.FAILURE})
"""Measures that hold the changed form against the placebo, where the probe has one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """One thing to judge.

    Attributes:
        question: the user's request, as the judge reads it.
        response: the response, as the judge reads it.
        criteria: lines of the rubric, in the order shown.
        reference: a right answer that the judge is shown; None shows none.
        scale: lowest to highest mark as the judge reads them, such as ("1", "2", "3", "4", "5") or ("E", ..., "A").
        listing: order in which the scale is explained, ``up`` or ``down``.
    """

    question: str
    response: str
    criteria: tuple[str, ...]
    reference: str | None = None
    scale: tuple[str, ...] = ("1", "2", "3", "4", "5")
    listing: str = "up"


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """One item of a probe: a base and what it is compared with.

    Attributes:
        probe: the probe's name.
        item_id: unique within the probe.
        text_id: the text it was made from; items of one text are one cluster of the statistics.
        forms: base and changed always; placebo and worse where the probe has them.
        source: ``shipped``, or the mounted data set's name.
        author: family of the model that wrote the changed form, for self-preference; None where rules made it.
        gold: which role a human or a key holds for the better one of base and changed; None where neither is (content
            held fixed).
        carries: which answer the changed form and its placebo carry: ``base`` the good one, ``worse`` one that is not
            right; None where that is not known.
    """

    probe: str
    item_id: str
    text_id: str
    forms: Mapping[Role, Form]
    source: str = SHIPPED
    author: str | None = None
    gold: Role | None = None
    carries: Role | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a judge made of one form, or of one form beside the base.

    Attributes:
        judge: the judge's name.
        probe: the probe's name.
        mode: how it was asked.
        item_id: of the item.
        text_id: of the item's text.
        role: which form. Pairwise: which form stood against the base; never ``base`` itself.
        order: pairwise alone: ``base_first`` or ``base_second``.
        repeat: 0 for the first asking, 1.. for repetitions.
        value: in [0, 1], see :class:`Mode`; None when it is unknown.
        reason: why it is unknown (a value of ``UnknownReason``); None exactly when it is known.
        probability: of the changed form being better, or of the response being good, where the protocol reads one.
        words: of the response shown (pairwise: of the form that stands against the base).
        author: the item's.
        gold: the item's.
    """

    judge: str
    probe: str
    mode: Mode
    item_id: str
    text_id: str
    role: Role
    order: str | None
    repeat: int
    value: float | None
    reason: str | None
    probability: float | None
    words: int
    author: str | None = None
    gold: Role | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("an outcome has a value, or a reason for having none")
        if self.value is not None and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"value {self.value} is outside [0, 1]")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability {self.probability} is outside [0, 1]")
