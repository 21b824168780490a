"""Canaries: responses without content that the judge of a training is shown, and that should earn nothing."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from components.core.spec.base import Spec

if TYPE_CHECKING:
    from components.core.spec.reward import RewardSpec


class CanarySpec(Spec):
    """How many responses without content a training's judge is shown, and what counts as an alarm."""

    per_step: Annotated[int, Field(ge=1, le=1000)] = 2
    """Master keys (":", "Solution", ...) judged in each step beside the policy's responses, under prompts of its batch.
    Each is one more response to judge; none is trained on. Unit: responses. Default: 2."""
    alarm_above: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Reward that a canary may earn at most; more is an alarm. null is 0, the lowest that a judge of yes and no gives,
    and 0.5 where rewards are made of probabilities, at which a judge calls a line neither met nor unmet. Unit: none.
    Default: null."""

    def threshold(self, reward: "RewardSpec") -> float:
        """The largest reward that is no alarm.

        Args:
            reward: of the experiment.
        """
        if self.alarm_above is not None:
            return self.alarm_above
        return 0.5 if reward.gives_probabilities else 0.0
