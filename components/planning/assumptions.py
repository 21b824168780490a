"""What a plan assumes because nobody can know it before a run; each is printed with the figures that rest on it."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Assumptions:
    """See the module.

    Attributes:
        fill: length of prompts, responses and replies as a share of the longest that is allowed, in (0, 1].
        again: share of a chat judge's replies that cannot be read and are asked for once more, in [0, 1].
        criteria: lines of a rubric that the judge decides, where the rows bring their own; None when not known.
        letters: characters of English text a token.
    """

    fill: float = 0.5
    again: float = 0.05
    criteria: float | None = None
    letters: float = 4.0
