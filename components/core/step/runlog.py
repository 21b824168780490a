"""One line for each execution of a step, for the run's final table."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

RUN_VARIABLE = "GAVEL_RUN_ID"
LOG_NAME = "steps.jsonl"


Status = Literal["ran", "reused", "failed"]


@dataclass(frozen=True)
class StepLine:
    """How one execution ended. ``seconds`` from start to end, waiting included."""

    step: str
    status: Status
    identity: str
    seconds: float
    uri: str = ""
    error: str = ""


def status(reused: bool) -> Status:
    """Of an execution that ended well."""
    return "reused" if reused else "ran"


def log_path(state: Path) -> Path:
    """The log of the run that GAVEL_RUN_ID names."""
    return state / "runs" / (os.environ.get(RUN_VARIABLE) or "unnamed") / LOG_NAME


def append(state: Path, line: StepLine) -> None:
    """Add a line in one write, so that steps that run at once do not mix theirs."""
    path = log_path(state)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as stream:
        stream.write((json.dumps(asdict(line), sort_keys=True) + "\n").encode())


@dataclass
class Ending:
    """What whoever runs a step tells of it before it ends; see :class:`StepLine`."""

    identity: str = ""
    status: Status = "ran"
    uri: str = ""


@contextmanager
def noted(state: Path, step: str) -> Iterator[Ending]:
    """Write the line of an execution, whether its work ends well or raises."""
    began = time.monotonic()
    ending = Ending()
    try:
        yield ending
    except BaseException as error:
        text = str(error).split("\n")[0] or type(error).__name__
        with suppress(OSError):
            append(state, StepLine(step, "failed", ending.identity, time.monotonic() - began, error=text))
        raise
    append(state, StepLine(step, ending.status, ending.identity, time.monotonic() - began, ending.uri))


def read(path: Path) -> list[StepLine]:
    """The lines of a log, in order; a last line cut short by a kill is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [StepLine(**json.loads(line)) for line in lines]
