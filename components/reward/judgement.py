"""One sample's verdicts and reward, and why there is none."""

import dataclasses
from collections.abc import Sequence
from typing import Final

from components.judge.verdict import PASSING, UnknownReason, Verdict
from components.reward.rubric import Reward

RULE: Final = "rule"
"""Judge of a verdict that code gave."""

UNREADABLE: Final = frozenset({UnknownReason.UNPARSEABLE, UnknownReason.MISSING})
"""A reply came and says nothing of what was asked, also when asked again: garbage, as a server in trouble writes it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Judgement:
    """One sample's verdicts and the reward that they make.

    Attributes:
        reward: what they amount to.
        verdicts: one a line of the rubric, in order; of a control arm in training only those that it needs.
    """

    reward: Reward
    verdicts: Sequence[Verdict]

    @property
    def abstained(self) -> bool:
        """Whether there is no reward."""
        return self.reward.value is None

    @property
    def may_pass(self) -> bool:
        """Whether it abstained for a reason that may be gone when the sample is judged again."""
        return self.abstained and any(verdict.reason in PASSING for verdict in self.verdicts)

    @property
    def unreadable(self) -> bool:
        """Whether it abstained for garbage alone."""
        return self._only(UNREADABLE)

    @property
    def empty(self) -> bool:
        """Whether it abstained since there was nothing to judge, which is the policy's doing and no failure, whether a
        rule failed as well or not."""
        nothing = frozenset({UnknownReason.EMPTY_RESPONSE, UnknownReason.RULE_FAILED})
        return self._only(nothing) and not self.rules_failed

    @property
    def rules_failed(self) -> bool:
        """Whether it abstained for checks by code alone, which failed for good."""
        return self._only(frozenset({UnknownReason.RULE_FAILED}))

    @property
    def lasting(self) -> bool:
        """Whether it abstained for a reason that no waiting mends."""
        return self.abstained and not self.may_pass

    @property
    def hopeless(self) -> bool:
        """Whether it abstained for a reason that not even another try may mend."""
        return self.lasting and not self.unreadable

    @property
    def by_judge(self) -> bool:
        """Whether a judge had a part in it, so that it tells something of the judge."""
        return any(verdict.judge != RULE for verdict in self.verdicts)

    @property
    def unpaid(self) -> bool:
        """Whether the run's budget did not allow for it."""
        return any(verdict.reason is UnknownReason.BUDGET for verdict in self.verdicts)

    @property
    def reasons(self) -> list[str]:
        """Why verdicts are unknown."""
        return [verdict.reason.value for verdict in self.verdicts if verdict.reason is not None]

    def _only(self, reasons: frozenset[UnknownReason]) -> bool:
        found = {verdict.reason for verdict in self.verdicts if verdict.reason is not None}
        return self.abstained and bool(found) and found <= reasons
