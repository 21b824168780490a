"""The table at the end of a run."""

from collections.abc import Sequence

from components.core.columns import aligned
from components.core.progress import clock_text
from components.core.step.runlog import StepLine

_NOT_REACHED = "not reached"


def summary_table(lines: Sequence[StepLine], steps: Sequence[str], *, seconds: float, peak_bytes: int) -> str:
    """One row a step: what became of it, how long it took, where its result lies.

    Args:
        lines: the run's log.
        steps: all steps of the pipeline in order; those without a line were not reached.
        seconds: of the whole run.
        peak_bytes: largest memory of all processes together; 0 when unknown.
    """
    last = {line.step: line for line in lines}
    rows = [("step", "status", "time", "result")]
    for step in steps:
        line = last.get(step)
        if line is None:
            rows.append((step, _NOT_REACHED, "", ""))
        else:
            rows.append((step, line.status, clock_text(line.seconds), line.error or line.uri))
    text = aligned(rows)
    text.insert(1, "-" * min(100, max(map(len, text))))
    memory = f", peak memory {peak_bytes / 1024**3:.1f} GiB" if peak_bytes else ""
    return "\n".join(["", *text, f"all: {clock_text(seconds)}{memory}"])
