"""From what a user names to what can be looked at."""

import contextlib
from pathlib import Path
from typing import Final, Protocol

from components.core.errors import ConfigError, GavelError
from components.core.spec import load_experiment
from components.core.step import runlog
from components.monitor.reach import reaching
from components.monitor.snapshot import Facts, Snapshot
from components.monitor.status import Kind, Stand
from components.monitor.stored import Published, find_stored
from components.monitor.work import STEP, WorkFolder

_SIGNS: Final = ("rollouts.sqlite", "reward.json", "trainer.log")
_HELP: Final = (
    "give the name of an experiment or of a study's arm, a work folder (.gavel/work/NAME/train-grpo/IDENTITY), a "
    "published training, or the folder or s3:// URL of a training in the store"
)


class Place(Protocol):
    """What can be looked at."""

    def look(self) -> Snapshot:
        """How the training is now."""


class Watched:
    """A run by whatever name, looked at again and again while it moves from a work folder to the store.

    Args:
        run: the name of an experiment, a folder, or a URI.
        state: the state folder.
    """

    def __init__(self, run: str, state: Path) -> None:
        if not run.strip():
            raise ConfigError("no run is named", where="RUN", remedy=_HELP)
        self._run, self._state = run.strip(), state
        self._name = _experiment(self._run, state)
        self._work: WorkFolder | None = None
        self._stored: Place | None = None

    def look(self) -> Snapshot:
        """How it is now.

        Raises:
            ConfigError: there is no such run.
            GavelError: it cannot be read.
        """
        if "://" in self._run:
            return self._of_store(self._run)
        path = Path(self._run)
        if path.is_dir():
            return self._of_folder(path.absolute())
        if path.absolute().parent.name == STEP:
            # A work folder whose work is done, or has not begun.
            return self._of_work(path.absolute())
        if "/" in self._run or self._name is None:
            where = f"{self._run}; state folder {self._state}"
            raise ConfigError("there is no such run", where=where, remedy=_HELP)
        return self._of_name(self._name)

    def _of_folder(self, folder: Path) -> Snapshot:
        if _is_work(folder):
            return self._of_work(folder)
        inner = folder if folder.name == STEP else folder / STEP
        if (newest := newest_work(inner)) is not None:
            return self._of_work(newest)
        return self._of_store(folder.as_uri())

    def _of_name(self, name: str) -> Snapshot:
        newest = newest_work(self._state / "work" / name / STEP)
        uri, when = published_uri(self._state, experiment=name)
        if newest is not None and (uri is None or _touched(newest) > when):
            return self._of_work(newest)
        if uri is not None:
            return self._of_published(uri)
        first = "no training of it is in this state folder; data and judge come first in a run"
        return Snapshot(str(self._state), Facts(name), Stand(Kind.NOT_BEGUN, detail=first))

    def _of_work(self, folder: Path) -> Snapshot:
        if not folder.exists():
            uri, _ = published_uri(_state_of(folder) or self._state, identity=folder.name)
            if uri is not None:
                return self._of_published(uri)
        if self._work is None or self._work.folder != folder:
            self._work = WorkFolder(folder)
        if not folder.exists() and not folder.with_name(f"{folder.name}.lock").exists():
            return Snapshot(str(folder), Facts(folder.parent.parent.name), Stand(Kind.NOT_BEGUN))
        return self._work.look()

    def _of_published(self, uri: str) -> Snapshot:
        if not isinstance(self._stored, Published) or self._stored.uri != uri:
            self._stored = Published(uri)
        return self._reached(uri)

    def _of_store(self, uri: str) -> Snapshot:
        with reaching(uri, self._state):
            if self._stored is None:
                self._stored = find_stored(uri, STEP)
            return self._stored.look()

    def _reached(self, uri: str) -> Snapshot:
        assert self._stored is not None
        with reaching(uri, self._state):
            return self._stored.look()


def newest_work(folder: Path) -> Path | None:
    """The work folder that was written to last among those of one step; None where there is none."""
    found = [path for path in folder.glob("*") if path.is_dir() and "." not in path.name and _is_work(path)]
    return max(found, key=_touched, default=None)


def _is_work(folder: Path) -> bool:
    """Whether a training works there, or did, and not what it published."""
    return folder.with_name(f"{folder.name}.lock").exists() or any((folder / name).exists() for name in _SIGNS)


def published_uri(state: Path, *, experiment: str = "", identity: str = "") -> tuple[str | None, float]:
    """Where the newest training of an experiment, or of an identity, was published by a run of this state folder, and
    the Unix time at which that was noted; None and 0 where none was."""
    best: tuple[str | None, float] = (None, 0.0)
    for log in (state / "runs").glob(f"*/{runlog.LOG_NAME}"):
        with contextlib.suppress(OSError, ValueError, TypeError):
            for line in runlog.read(log):
                fits = line.identity == identity if identity else f"/{experiment}/{STEP}/" in line.uri
                if line.step == STEP and line.uri and fits and log.stat().st_mtime >= best[1]:
                    best = (line.uri, log.stat().st_mtime)
    return best


def _touched(work: Path) -> float:
    newest = [path.stat().st_mtime for path in (work, *work.glob("*")) if path.exists()]
    return max(newest, default=0.0)


def _state_of(work: Path) -> Path | None:
    return work.parents[3] if len(work.parents) > 3 and work.parents[2].name == "work" else None


def _experiment(run: str, state: Path) -> str | None:
    """The name of the experiment that is meant: as its file is called, as it calls itself, or that of a training in
    this state folder, such as a study's arm; None where there is none."""
    if "/" in run:
        return None
    for name in dict.fromkeys((run, run.replace("-", "_"))):
        with contextlib.suppress(GavelError):
            return load_experiment(name).name
    known = (state / "work" / run / STEP).is_dir() or published_uri(state, experiment=run)[0] is not None
    return run if known else None
