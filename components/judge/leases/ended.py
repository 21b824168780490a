"""What became of a judge that somebody is done with."""

import enum


class Ended(enum.Enum):
    """True where the judge does not run any more."""

    ENDED = "ended"
    """Nobody used it any more."""
    KEPT = "kept"
    """Others use it."""
    ABSENT = "absent"
    """There was nothing of ours."""

    def __bool__(self) -> bool:
        return self is Ended.ENDED
