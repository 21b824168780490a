"""Which samples a judge had to be asked about again.

Of two calls about one sample, the second may ask again for what the first reply left open, or be the first one sent
once more since the network failed. A verdict's ``attempts`` has both in one number; the calls in the ledger tell them
apart.
"""

import collections
import dataclasses
from pathlib import Path

from components.judge.memory import CallRow, Ledger
from components.judge.memory.rows import subject


@dataclasses.dataclass(slots=True)
class Asked:
    """Questions about one sample.

    Attributes:
        again: those that asked for what an earlier reply had left open.
        repeated: HTTP calls that were made more than once for the same question.
    """

    again: int = 0
    repeated: int = 0


class CountingLedger(Ledger):
    """The ledger, which also counts the questions about each sample while the sample is judged.

    Equal questions that are under way at once are one, and count for the sample that asked first.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._asked: collections.defaultdict[str, Asked] = collections.defaultdict(Asked)

    def add_call(self, row: CallRow) -> None:
        """See :meth:`Ledger.add_call`."""
        super().add_call(row)
        about = subject()
        sample_id = row.sample_id if row.sample_id is not None or about is None else about[0]
        if sample_id is not None:
            count = self._asked[sample_id]
            count.again += row.purpose != "ask"
            count.repeated += max(0, row.attempts - 1)

    def take(self, sample_id: str) -> Asked | None:
        """What was counted for the sample, which is forgotten; None when no question about it is on record."""
        return self._asked.pop(sample_id, None)
