"""Stops a run whose judge has stopped judging, before the policy trains on the few samples that get through."""

import collections
import json
from pathlib import Path

from components.core.errors import JudgeError

WINDOW = 64
"""Samples looked back on."""

MINIMUM = 16
"""Samples that must be seen before the rate means anything."""


class AbstainGuard:
    """Watches the share of abstained samples among the newest ones."""

    def __init__(self, max_rate: float, fatal_file: Path) -> None:
        """Watch for a share above ``max_rate``, and report the end of the run through ``fatal_file``."""
        self._max_rate = max_rate
        self._fatal_file = fatal_file
        self._recent: collections.deque[bool] = collections.deque(maxlen=WINDOW)
        self._reasons: collections.Counter[str] = collections.Counter()

    def note(self, *, abstained: bool, reason: str, judge: str) -> None:
        """Count one sample.

        Raises:
            JudgeError: the share of abstained samples is above the limit; the same text is in the fatal file, since
                verl treats an exception as one lost sample and goes on.
        """
        self._recent.append(abstained)
        if abstained:
            self._reasons[reason] += 1
        count, lost = len(self._recent), sum(self._recent)
        if count < MINIMUM or lost <= self._max_rate * count:
            return
        reasons = ", ".join(f"{name} {number}" for name, number in self._reasons.most_common(5))
        error = JudgeError(
            f"judge {judge} could not judge {lost} of the newest {count} samples ({reasons})",
            where=f"reward.max_abstain_rate = {self._max_rate}",
            remedy="look at the judge's log and endpoint, then run the same command again: training resumes",
        )
        self.stop(error.what, error.where, error.remedy)
        raise error

    def stop(self, what: str, where: str, remedy: str) -> None:
        """Have the step that watches the trainer end it with this error."""
        partial = self._fatal_file.with_suffix(".partial")
        partial.write_text(json.dumps({"what": what, "where": where, "remedy": remedy}))
        partial.replace(self._fatal_file)
