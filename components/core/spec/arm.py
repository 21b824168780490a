"""One arm of a study: a whole experiment, and what tells it apart from the others."""

import dataclasses
import re
from typing import Final

from components.core.identity import digest
from components.core.spec.experiment import Experiment

LONGEST: Final = 40
"""Characters of a label."""

_SHORT: Final = 6
"""Characters of the hash that keeps names apart which are cut alike."""


@dataclasses.dataclass(frozen=True, slots=True)
class ArmKey:
    """What an arm is by name; nothing else makes its own name, so that another arm never changes it.

    Attributes:
        judge: name of the judge, or of the panel; of a control arm the one that scores its held-out responses.
        reward: name of the reward.
        policy: name of the policy.
        seed: of the experiment.
        control: ``rule_only``, ``random``, ``length`` or ``format`` where no judge is asked in training,
            ``zero_as_control`` where failures count as 0; None for an arm that a judge trains.
    """

    judge: str
    reward: str
    policy: str
    seed: int
    control: str | None = None

    def name(self, study: str) -> str:
        """The arm's name, at most 40 characters, ending in a hash of all of the key.

        Args:
            study: name of the study.
        """
        key = digest([study, *dataclasses.astuple(self)])[:_SHORT]
        who = [self.control, self.policy] if self.control in CONTROL_NAMES else [self.judge, self.reward, self.policy]
        if self.control == "zero_as_control":
            who.insert(0, "zero")
        seed = f"-s{self.seed}"
        room = LONGEST - len(seed) - len(key) - 1
        text = re.sub(r"[^a-z0-9]+", "-", "-".join([study, *map(str, who)]).lower())[:room].strip("-")
        return f"{text}{seed}-{key}"


CONTROL_NAMES: Final = frozenset({"rule_only", "random", "length", "format"})
"""Controls that ask no judge in training."""


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """An arm.

    Attributes:
        key: what it is by name.
        experiment: all of it; its name is the arm's.
    """

    key: ArmKey
    experiment: Experiment

    @property
    def name(self) -> str:
        """The arm's name."""
        return str(self.experiment.name)

    @property
    def judged(self) -> bool:
        """Whether a judge is asked in training."""
        return bool(self.experiment.reward.asks_in_training)

    def identity(self) -> str:
        """Sha256 of what decides the arm's results; its name is no part of it."""
        experiment = self.experiment
        return digest(
            {
                "data": experiment.data_identity(),
                "policy": experiment.policy_identity(),
                "rewarding": experiment.rewarding_identity(),
                "training": experiment.training_identity(),
                "generation": experiment.generation_identity(),
            }
        )
