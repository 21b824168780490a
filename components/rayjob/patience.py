"""How long is waited for what. Seconds, by one monotonic clock."""

import dataclasses
from collections.abc import Callable

from components.core.spec.experiment import Experiment
from components.rayjob.messages import Heartbeat


@dataclasses.dataclass(frozen=True)
class Patience:
    """The limits of one training."""

    stall: float
    """Without progress of the driver: it hangs."""
    pause: float
    """In which the driver may wait for its judge."""
    queue: float | None = None
    """For admission and nodes; None without limit."""
    trouble: float = 300.0
    """With a trouble of a pod that seldom passes (no image, a wrong name of a secret)."""
    unseen: float = 900.0
    """Until KubeRay takes the job up, and until Kueue does; their operators may be away for an update."""
    poll: float = 10.0
    """Between two looks, at most."""
    starts: int = 3
    """Attempts in a row that may hang."""

    @classmethod
    def of(cls, experiment: Experiment) -> "Patience":
        """As the experiment says."""
        kubernetes = experiment.cluster.kubernetes
        queue = kubernetes.queue_minutes if kubernetes else None
        return cls(
            stall=experiment.training.stall_minutes * 60,
            pause=experiment.reward.pause_minutes * 60,
            queue=None if queue is None else queue * 60,
        )


class Pulse:
    """Watches the heartbeats of one attempt.

    It starts anew with each attempt and with each start of the step that follows one: only what it saw itself counts.
    """

    def __init__(self, attempt: str, patience: Patience, clock: Callable[[], float]) -> None:
        self._attempt, self._patience, self._clock = attempt, patience, clock
        self._last: tuple[str, int] | None = None
        self._moved = self._waiting_since = clock()
        self._waiting = False
        self.beat: Heartbeat | None = None
        """The newest one of this attempt."""

    def see(self, beat: Heartbeat | None) -> bool:
        """Take in the newest heartbeat; True if it tells something new."""
        if beat is None or beat.attempt != self._attempt:
            return False
        now = self._clock()
        waits = beat.state == "waiting-for-judge"
        if waits != self._waiting:
            self._waiting, self._waiting_since, self._moved = waits, now, now
        changed = (beat.start, beat.sequence) != self._last
        if changed:
            self._last, self._moved = (beat.start, beat.sequence), now
        fresh = changed or self.beat is None or (beat.state, beat.step) != (self.beat.state, self.beat.step)
        self.beat = beat
        return fresh

    def rest(self) -> None:
        """The driver cannot be expected to show life now (its job is queued)."""
        self._moved = self._waiting_since = self._clock()

    @property
    def silent(self) -> float:
        """Seconds since the last progress."""
        return self._clock() - self._moved

    @property
    def hangs(self) -> bool:
        """Whether there was no progress for too long. Waiting for a judge is none."""
        return not self._waiting and self.silent > self._patience.stall

    @property
    def judge_is_gone(self) -> bool:
        """Whether the driver waits for its judge for longer than it should by itself, and may take to end."""
        limit = self._patience.pause + self._patience.stall
        return self._waiting and self._clock() - self._waiting_since > limit
