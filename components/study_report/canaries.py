"""Canaries as the study's page tells them: by arm, and by text."""

import dataclasses
import json
from collections.abc import Sequence

from components.bias.drift.result import Canary
from components.bias.result_arms import Arm


@dataclasses.dataclass(frozen=True, slots=True)
class CanaryRow:
    """Canaries of one arm over all steps, all or those of one text.

    Attributes:
        arm: its name.
        key: the text, quoted; "" for all of them.
        judged: with a known reward.
        accepted: of these, rewarded.
        unknown: without a known reward.
        first: first step at which one was rewarded; None where none was.
    """

    arm: str
    key: str
    judged: int
    accepted: int
    unknown: int
    first: int | None

    @property
    def sent(self) -> int:
        """Shown to the judge."""
        return self.judged + self.unknown


def rows_by_arm(arms: Sequence[Arm]) -> list[CanaryRow]:
    """One row for each arm with canaries."""
    return [_row(arm.name, "", arm.canaries) for arm in arms if arm.canaries]


def rows_by_key(arms: Sequence[Arm]) -> list[CanaryRow]:
    """One row for each text of each arm."""
    return [
        _row(arm.name, json.dumps(key, ensure_ascii=False), [each for each in arm.canaries if each.key == key])
        for arm in arms
        for key in dict.fromkeys(canary.key for canary in arm.canaries)
    ]


def _row(arm: str, key: str, found: Sequence[Canary]) -> CanaryRow:
    return CanaryRow(
        arm=arm,
        key=key,
        judged=sum(canary.judged for canary in found),
        accepted=sum(canary.accepted for canary in found),
        unknown=sum(canary.unknown for canary in found),
        first=min((canary.step for canary in found if canary.accepted), default=None),
    )
