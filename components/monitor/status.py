"""How a training stands, told from what it leaves behind."""

import dataclasses
import enum
import json
import time
from pathlib import Path
from typing import Any, Final

from components.core.errors import ContractError, ServiceError
from components.core.progress import clock_text
from components.core.services.process import ProcessId
from components.engine.checkpoints import whole_steps
from components.reward.abstain_guard import PAUSED
from components.train.beats import read_local

SILENT_AFTER: Final = 15.0
"""Seconds without a heartbeat, of which there is one a second, after which a trainer is not taken to be at work."""


class Kind(enum.StrEnum):
    """How it stands."""

    NOT_BEGUN = "not begun"
    PREPARING = "preparing"
    TRAINING = "training"
    PAUSED = "paused"
    SILENT = "no sign of life"
    STOPPED = "stopped"
    FAILED = "failed"
    TRAINED = "trained, not published yet"
    PUBLISHED = "published"


@dataclasses.dataclass(frozen=True, slots=True)
class Stand:
    """How a training stands.

    Attributes:
        kind: in a word.
        step: under way, from 1, or the last one where none is; 0 before the first.
        detail: more for people; "" where there is none.
    """

    kind: Kind
    step: int = 0
    detail: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more comes by itself."""
        return self.kind in (Kind.STOPPED, Kind.FAILED, Kind.PUBLISHED)


def work_stand(work: Path, *, steps: int | None, done: int, now: float | None = None) -> Stand:
    """How the training in a work folder of this machine stands.

    Args:
        work: the folder of its step; a lock file lies beside it.
        steps: of the whole training; None where it is not known.
        done: the last step with metrics.
        now: Unix time.
    """
    moment = time.time() if now is None else now
    alive = _is_alive(work)
    try:
        beat = read_local(work / "heartbeat.json")
    except ContractError:
        beat = None
    age = None if beat is None else moment - beat.time
    finished = steps is not None and done >= steps
    fatal = _words(work / "fatal.json")
    if fatal and not alive:
        return Stand(Kind.FAILED, done, fatal)
    if beat is not None and age is not None and age <= SILENT_AFTER and not finished:
        return _at_work(work, beat.step, beat.state)
    if finished:
        if alive is False:
            return Stand(Kind.STOPPED, done, "trained to the end, and not published: run it again")
        return Stand(Kind.TRAINED, done)
    if alive:
        if age is None:
            return Stand(Kind.PREPARING, 0, "the policy is made ready, or verl and Ray start")
        return Stand(Kind.SILENT, done, f"the last one was {clock_text(age)} ago; its process lives")
    return Stand(Kind.STOPPED, done, _goes_on(work))


def _at_work(work: Path, step: int, state: str) -> Stand:
    try:
        return Stand(Kind.PAUSED, step, (work / PAUSED).read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        pass
    if state == "starting":
        return Stand(Kind.PREPARING, step, "verl and Ray start")
    return Stand(Kind.TRAINING, step, "" if state == "training" else state)


def _goes_on(work: Path) -> str:
    steps = whole_steps(work / "checkpoints")
    where = f"from the checkpoint of step {steps[-1]}" if steps else "from the start"
    return f"its process is gone; run it again, and it goes on {where}"


def _is_alive(work: Path) -> bool | None:
    """Whether the process that works on the folder lives; None where none has signed."""
    record = _record(work.with_name(f"{work.name}.lock"))
    try:
        return ProcessId.parse(str(record["process"])).alive()
    except (KeyError, ServiceError):
        return None


def _words(path: Path) -> str:
    record = _record(path)
    return " ".join(str(record[name]) for name in ("what", "remedy") if record.get(name))


def _record(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
