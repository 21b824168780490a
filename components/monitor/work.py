"""The training in a work folder of this machine."""

import sqlite3
from pathlib import Path

from components.monitor.buffer_fill import fill_of_work
from components.monitor.logs import Logs
from components.monitor.origins import origins_of_work
from components.monitor.samples import Origins, Sample, sample_of
from components.monitor.snapshot import Facts, Snapshot, facts_of_work, work_metrics
from components.monitor.status import work_stand

STEP = "train-grpo"
"""Name of the step, and of the folder of its work."""


class WorkFolder:
    """Looks at one work folder again and again; what was read is kept.

    Args:
        folder: ``work/<experiment>/train-grpo/<identity>`` in the state folder, which need not be there any more.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._logs = Logs(folder)
        self._origins: Origins | None = None
        self._buffer: dict[str, int] | None = None
        self._last: tuple[list[Sample], dict[int, dict[str, float]]] = ([], {})

    def look(self) -> Snapshot:
        """How it is now."""
        facts = facts_of_work(self.folder)
        notes = []
        try:
            self._last = self._read()
        except sqlite3.Error as error:
            notes.append(f"the logs cannot be read now: {error}")
        samples, metrics = self._last
        if self._origins is None and samples:
            notes.append("the table of training prompts is not to be found, so that sets and domains are unknown")
        return Snapshot(
            where=str(self.folder),
            facts=facts,
            stand=work_stand(self.folder, steps=facts.steps, done=max(metrics, default=0)),
            samples=samples,
            metrics=metrics,
            buffer=self._fill(facts),
            notes=notes,
        )

    def _read(self) -> tuple[list[Sample], dict[int, dict[str, float]]]:
        rollouts, workflows, attempts = self._logs.read()
        if self._origins is None:
            self._origins = origins_of_work(self.folder)
        origins = self._origins or {}
        samples = [sample_of(row, origins, workflows.get(row["sample_id"])) for row in rollouts]
        return samples, work_metrics(self.folder, attempts)

    def _fill(self, facts: Facts) -> dict[str, int] | None:
        found = fill_of_work(self.folder, facts.capacity)
        # While it is written, the last one stands.
        self._buffer = self._buffer if found is None else found
        return self._buffer
