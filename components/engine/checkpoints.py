"""verl's checkpoint folder: which checkpoint is whole, and where a killed run goes on."""

import re
import shutil
from pathlib import Path

MARK = "gavel-complete.json"
"""File that a checkpoint folder holds once all of it is written, and the metrics of its step."""

_TRACKER = "latest_checkpointed_iteration.txt"
_STEP = re.compile(r"global_step_(\d+)")


def whole_steps(folder: Path) -> list[int]:
    """The steps whose checkpoints were written to the end, ascending."""
    found = ((_STEP.fullmatch(path.name), path) for path in folder.glob("global_step_*"))
    return sorted(int(match.group(1)) for match, path in found if match and (path / MARK).is_file())


def prepare_resume(folder: Path) -> int:
    """Make verl resume from the newest whole checkpoint, and return its step (0: from the start).

    verl writes its tracker file before the checkpoint is known to be whole, and a kill may leave half a folder; such
    folders are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    steps = whole_steps(folder)
    for path in folder.glob("global_step_*"):
        match = _STEP.fullmatch(path.name)
        if match and int(match.group(1)) not in steps:
            shutil.rmtree(path)
    tracker = folder / _TRACKER
    if not steps:
        tracker.unlink(missing_ok=True)
        return 0
    tracker.write_text(str(steps[-1]))
    return steps[-1]


def step_folder(folder: Path, step: int) -> Path:
    """The folder of one step's checkpoint."""
    return folder / f"global_step_{step}"
