"""One canary, judged."""

import dataclasses

from components.judge.verdict import Sample
from components.reward.judgement import Judgement


@dataclasses.dataclass(frozen=True, slots=True)
class Sighting:
    """One canary, judged; the fields are the columns of the CANARIES contract.

    Attributes:
        step: of the trainer.
        attempt: number of the start of the trainer.
        sample_id: under which calls and verdicts are recorded.
        row_id: the prompt that it stood under.
        key: the response without content.
        reward: what the lines that a judge decides gave it; None where that is unknown.
        threshold: the largest reward that is no alarm.
        known_weight: share of the positive points with a known verdict.
        reason: why the reward is unknown, with the verdicts' reasons; None where it is known.
    """

    step: int
    attempt: int
    sample_id: str
    row_id: str
    key: str
    reward: float | None
    threshold: float
    known_weight: float
    reason: str | None

    @property
    def rewarded(self) -> bool | None:
        """Whether it earned more than it may; None where its reward is unknown."""
        return None if self.reward is None else self.reward > self.threshold

    @classmethod
    def of(cls, step: int, attempt: int, canary: Sample, threshold: float, judgement: Judgement) -> "Sighting":
        """What became of ``canary``."""
        reward, reason = judgement.reward, None
        if reward.value is None:
            told = ", ".join(sorted(set(judgement.reasons)))
            reason = f"{reward.reason} ({told})" if told else reward.reason
        return cls(
            step=step,
            attempt=attempt,
            sample_id=canary.sample_id,
            row_id=canary.row_id,
            key=canary.response,
            reward=reward.value,
            threshold=threshold,
            known_weight=reward.known_weight,
            reason=reason,
        )
