"""A training's checkpoints in the store: sent as they appear, complete or not at all, and brought back where the work
folder is lost.

A checkpoint lies at ``<step's folder>/checkpoints/global_step_N/``: ``checkpoint/`` is verl's folder, ``work/`` what
the step itself has written so far (rollouts, ledger, metrics), and its manifest, written last, makes it whole.
"""

import io
import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from components.core.errors import ContractError, GavelError, StorageError
from components.core.manifest import MANIFEST_NAME
from components.core.progress import Progress
from components.core.store import Store
from components.core.store.keys import join
from components.engine.checkpoints import step_folder, whole_steps
from components.workflow.log_name import NAME as WORKFLOWS

FOLDER = "checkpoints"
_STAGING = "shipping"
_NAME = re.compile(r"global_step_(0|[1-9][0-9]{0,17})", re.ASCII)
_LOGS = ("rollouts.sqlite", "ledger.sqlite", WORKFLOWS, "buffer.sqlite")
"""In the order in which they are copied: no rollout may be without its verdicts or its workflow."""
_FILES = ("metrics-*.jsonl", "tensorboard/**/*")
_FIRST_WAIT, _LONGEST_WAIT = 5.0, 300.0
_POLL = 2.0


class _StoppedError(Exception):
    """The upload is not wanted any more."""


class CheckpointKeeper:
    """Keeps the checkpoints of one training in the store, from a thread that training never waits for.

    A checkpoint that the store does not take is told and tried again until a newer one takes its place. It never fails
    the training: what is trained is published at its end, and a store that takes nothing fails the step there.

    Args:
        store: where they go.
        place: the step's folder in it.
        work: the step's work folder.
        keep: how many stay in the store, newest first.
        last: the training's last step, whose checkpoint is not sent: it is published.
        progress: is told what happens.
        poll: seconds between two looks for a new one.
    """

    def __init__(
        self,
        store: Store,
        place: str,
        work: Path,
        *,
        keep: int,
        last: int,
        progress: Progress,
        poll: float = _POLL,
    ) -> None:
        self._store, self._root, self._work = store, join(place, FOLDER), work
        self._keep, self._last, self._progress, self._poll = max(1, keep), last, progress, poll
        self._local = work / "checkpoints"
        self._staging = work / _STAGING
        self._over = threading.Event()
        self._drop = threading.Event()
        self._thread: threading.Thread | None = None
        self._foreign: set[str] = set()
        """Names that were told."""
        self.trouble = ""
        """Why the newest checkpoint is not in the store; "" where it is, or is on its way."""

    def stored(self) -> list[int]:
        """Steps of the whole checkpoints in the store, ascending. What else lies there is told once, and left."""
        found, foreign = [], set()
        for entry in self._store.list(self._root):
            name, _, rest = entry.key[len(self._root) + 1 :].partition("/")
            step = _step_of(name)
            if step is None:
                foreign.add(name)
            elif rest == MANIFEST_NAME:
                found.append(step)
        for name in sorted(foreign - self._foreign):
            self._progress.phase(f"{join(self._root, name)} in the store is no checkpoint of ours, and is left alone")
        self._foreign |= foreign
        return sorted(found)

    def restore(self) -> int:
        """Bring the newest whole checkpoint back if there is none in the work folder; its step, 0 for none.

        One that is damaged in the store is told, and the one before it is taken.

        Raises:
            StorageError: the store cannot be read.
        """
        shutil.rmtree(self._staging, ignore_errors=True)
        if whole_steps(self._local):
            return 0
        for step in reversed(self.stored()):
            key = self._key(step)
            try:
                self._store.download(key, self._staging, self._progress)
            except (ContractError, StorageError) as error:
                if not self._store.exists(join(key, MANIFEST_NAME)):
                    raise
                self._progress.phase(f"the stored checkpoint of step {step} is damaged: {error.what}")
                shutil.rmtree(self._staging, ignore_errors=True)
                continue
            self._place(step)
            self._progress.phase(f"the checkpoint of step {step} is restored from the store")
            return step
        return 0

    def start(self) -> None:
        """Begin to watch for checkpoints."""
        self._thread = threading.Thread(target=self._work_on, name="checkpoints", daemon=True)
        self._thread.start()

    def finish(self, seconds: float) -> None:
        """Stop watching, but let what is there reach the store, for at most so long."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(seconds)
        self.drop()

    def drop(self) -> None:
        """Stop at once; an upload under way is left."""
        self._over.set()
        self._drop.set()
        if self._thread is not None:
            self._thread.join(30.0)

    def _work_on(self) -> None:
        wait = _FIRST_WAIT
        done = 0
        while not self._drop.is_set():
            # Asked before the look, so that what appeared until then is seen.
            over = self._over.is_set()
            step = max((step for step in whole_steps(self._local) if step < self._last), default=0)
            if step > done:
                try:
                    self._send(step)
                    done, wait, self.trouble = step, _FIRST_WAIT, ""
                except _StoppedError:
                    return
                except (GavelError, OSError, sqlite3.Error) as error:
                    self._tell(step, error)
                    if over:
                        return
                    self._over.wait(wait)
                    wait = min(2 * wait, _LONGEST_WAIT)
                    continue
            if over:
                return
            self._over.wait(self._poll)

    def _tell(self, step: int, error: Exception) -> None:
        text = error.what if isinstance(error, GavelError) else f"{type(error).__name__}: {error}"
        if text != self.trouble:
            self._progress.phase(f"the checkpoint of step {step} is not in the store yet: {text}")
        self.trouble = text

    def _send(self, step: int) -> None:
        folder = self._staging / f"global_step_{step}"
        if not folder.is_dir():
            shutil.rmtree(self._staging, ignore_errors=True)
            self._stage(step, folder.with_suffix(".partial"))
            folder.with_suffix(".partial").rename(folder)
        if step not in self.stored():
            self._store.upload(folder, self._key(step), _Stoppable(self._drop))
        shutil.rmtree(self._staging)
        self._prune(step)

    def _stage(self, step: int, folder: Path) -> None:
        """A copy that neither verl's pruning nor further writing changes; by hard link where files are final."""
        for source in _files(step_folder(self._local, step)):
            target = folder / "checkpoint" / source.relative_to(step_folder(self._local, step))
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)
        own = folder / "work"
        own.mkdir(parents=True, exist_ok=True)
        for name in _LOGS:
            if (self._work / name).exists():
                _copy_database(self._work / name, own / name)
        for pattern in _FILES:
            for source in self._work.glob(pattern):
                if source.is_file():
                    target = own / source.relative_to(self._work)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(source, target)

    def _place(self, step: int) -> None:
        """Move what was fetched to where the step looks for it; the checkpoint last, since it makes the rest count."""
        own = self._staging / "work"
        for source in list(_files(own)):
            target = self._work / source.relative_to(own)
            target.parent.mkdir(parents=True, exist_ok=True)
            for left in target.parent.glob(f"{target.name}-*"):
                # Journals of a database that is replaced.
                left.unlink()
            source.replace(target)
        target = step_folder(self._local, step)
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        (self._staging / "checkpoint").rename(target)
        shutil.rmtree(self._staging)

    def _prune(self, newest: int) -> None:
        whole = [step for step in self.stored() if step <= newest]
        kept = {f"global_step_{step}" for step in whole[-self._keep :]}
        present = {entry.key[len(self._root) + 1 :].split("/")[0] for entry in self._store.list(self._root)}
        for name in present - kept:
            number = _step_of(name)
            if number is not None and number <= newest:
                self._store.delete(join(self._root, name))

    def _key(self, step: int) -> str:
        return join(self._root, f"global_step_{step}")


class _Stoppable(Progress):
    """Silent; ends the upload that counts on it when it is told to."""

    def __init__(self, drop: threading.Event) -> None:
        self._dropped = drop
        super().__init__("", stream=io.StringIO())

    def advance(self, n: int = 1, note: str = "", *, typical: bool = True) -> None:
        """Count, or stop."""
        if self._dropped.is_set():
            raise _StoppedError
        super().advance(n, note, typical=typical)


def _step_of(name: str) -> int | None:
    """The step whose checkpoint has this name; None for a name that we give none."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _copy_database(source: Path, target: Path) -> None:
    """As it is at one moment, while others write to it."""
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(source, timeout=30)) as read, closing(sqlite3.connect(target)) as write:
        read.backup(write)
        # A copy without a journal beside it.
        write.execute("PRAGMA journal_mode=DELETE")
