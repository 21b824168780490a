"""What the reward manager is told by the step that starts the trainer; free of verl, so that both sides import it."""

import dataclasses
import json
from pathlib import Path

SETTINGS_ENV = "GAVEL_REWARD_SETTINGS"
"""Environment variable with the path of a :class:`ManagerSettings` file."""


@dataclasses.dataclass(frozen=True, slots=True)
class ManagerSettings:
    """What a reward manager needs beyond verl's configuration.

    Attributes:
        experiment: the experiment as JSON.
        state: the state folder, where judges' endpoints are recorded.
        work: the training step's durable folder.
        attempt: number of this start of the trainer.
        data: folder that prepare-data published; empty where nobody needs it.
    """

    experiment: str
    state: str
    work: str
    attempt: int
    data: str = ""

    def write(self, path: Path) -> None:
        """Write the settings to ``path``."""
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "ManagerSettings":
        """Read what :meth:`write` wrote."""
        return cls(**json.loads(path.read_text()))
