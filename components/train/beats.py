"""The driver's heartbeat in the store, for the step that follows its job from outside."""

import dataclasses
import json
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Final

from components.core.errors import ContractError, GavelError
from components.core.progress import Progress
from components.core.store import Store
from components.engine.checkpoints import MARK
from components.rayjob import messages
from components.rayjob.messages import HEARTBEAT, Heartbeat, State

_SECONDS = 10.0
_LOCAL = "heartbeat.json"
"""What the watcher of the trainer writes into the work folder."""

_LARGEST: Final = 1e12
"""Of times and steps."""

_SIGNS = ("trainer.log", "metrics-*.jsonl", "rollouts.sqlite*", "ledger.sqlite*")
"""Files that a trainer which lives makes grow."""


@dataclasses.dataclass(frozen=True, slots=True)
class Local:
    """The watcher's word on the trainer, as far as it is handed on."""

    time: float
    """Unix time."""
    step: int
    """The training step under way, from 1; 0 while there is none."""
    state: str


class Beats:
    """Writes a heartbeat from a thread, for as long as the block lasts.

    The sequence number grows with every sign of progress: outside of training with time, since nothing there can hang
    but what has time limits of its own; within it only with the trainer's files.

    Args:
        store: where it goes.
        place: the step's folder in it.
        attempt: name of the RayJob.
        progress: is told if the store does not take it.
        seconds: between two.
    """

    def __init__(
        self, store: Store, place: str, attempt: str, progress: Progress, *, seconds: float = _SECONDS
    ) -> None:
        self._store, self._place, self._attempt = store, place, attempt
        self._progress, self._seconds = progress, seconds
        self._start, self._sequence = uuid.uuid4().hex[:12], 0
        self._work: Path | None = None
        self._began = 0.0
        self._signs: object = None
        self._state: State = "starting"
        self._over = threading.Event()
        self._step = 0
        self._trouble = self._broken = ""
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> "Beats":
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join(60.0)

    def watch(self, work: Path) -> None:
        """From now on the trainer in this work folder is what lives or hangs."""
        self._began, self._work = time.time(), work

    def publishing(self) -> None:
        """Training is over."""
        self._work, self._state = None, "publishing"

    def beat(self) -> Heartbeat:
        """The heartbeat of this moment."""
        state, step, note = self._state, 0, ""
        work = self._work
        signs: object = time.time()
        try:
            local = read_local(work / _LOCAL) if work is not None else None
            self._broken = ""
        except ContractError as error:
            # What nobody can read tells of no hang; a trainer that hangs is also found by its watcher, who needs no
            # file for that.
            local, state, step, note = None, "training", self._step, "the trainer's heartbeat cannot be read"
            if error.what != self._broken:
                self._progress.phase(f"{note}: {error.what} ({error.where})")
            self._broken = error.what
        if work is not None and local is not None and local.time >= self._began:
            step = self._step = local.step
            saving = _saving(work)
            signs = (_sizes(work), saving)
            known: dict[str, State] = {"paused": "waiting-for-judge", "starting": "starting"}
            state = known.get(local.state, "saving" if saving else "training")
            note = "verl and Ray" if local.state == "starting" else local.state
            note = "" if local.state in ("training", "paused") else note
        if signs != self._signs:
            self._signs, self._sequence = signs, self._sequence + 1
        return Heartbeat(self._attempt, self._start, self._sequence, state, step, note, time.time())

    def _run(self) -> None:
        while True:
            try:
                messages.write(self._store, self._place, HEARTBEAT, self.beat())
                self._trouble = ""
            except (GavelError, OSError) as error:
                text = error.what if isinstance(error, GavelError) else str(error)
                if text != self._trouble:
                    self._progress.phase(f"the heartbeat does not reach the store: {text}")
                self._trouble = text
            if self._over.wait(self._seconds):
                return


def read_local(path: Path) -> Local | None:
    """What the watcher of the trainer wrote last; None where it has written nothing.

    Raises:
        ContractError: it cannot be read, or is no heartbeat.
    """
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ContractError(str(error) or type(error).__name__, where=str(path), remedy="delete it") from error
    values: dict[str, Any] = found if isinstance(found, dict) else {}
    moment, step, state = (values.get(name) for name in ("time", "step", "state"))
    if (
        isinstance(moment, float | int)
        and isinstance(step, int)
        and isinstance(state, str)
        # In Python true is a number; neither is NaN below anything.
        and not isinstance(moment, bool)
        and not isinstance(step, bool)
        and abs(moment) < _LARGEST
        and abs(step) < _LARGEST
    ):
        return Local(float(moment), max(0, int(step)), state)
    raise ContractError(
        "it has no time, step and state of their types",
        where=str(path),
        remedy="delete it; the next one is written anew",
    )


def _sizes(work: Path) -> tuple[tuple[str, int, int], ...]:
    found = []
    for pattern in _SIGNS:
        for path in sorted(work.glob(pattern)):
            try:
                stat = path.stat()
            except OSError:
                continue
            found.append((path.name, stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def _saving(work: Path) -> int:
    """Bytes of a checkpoint that is being written; 0 where none is."""
    total = 0
    for folder in (work / "checkpoints").glob("global_step_*"):
        if (folder / MARK).exists():
            continue
        for path in folder.rglob("*"):
            try:
                total += path.stat().st_size if path.is_file() else 1
            except OSError:
                continue
    return total
