"""The step import-model: a checkpoint or model that lies anywhere becomes a published model folder."""

import functools
import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from components.checkpoint.locate import Located, locate
from components.checkpoint.merged import merge_verified
from components.checkpoint.same_model import check_same_model
from components.checkpoint.step import LOADED, PACKAGES
from components.core.errors import StepError, StorageError
from components.core.manifest import MANIFEST_NAME, Scalar, content_sha256, scan_folder
from components.core.progress import Progress
from components.core.services.state import state_folder
from components.core.step import Step, StepContext
from components.core.store import Store
from components.core.store.disk import atomic
from components.core.store.keys import join, split_file_url, split_uri
from components.engine.environment import verl_environment

if TYPE_CHECKING:
    from components.core.spec import Experiment

_UNUSED = ("optim_", "extra_state_")
"""Beginnings of names of what only a resumed training reads."""

_SHORT = 16
_BLOCK = 1 << 24


def import_step(uri: str) -> Step:
    """The step for one checkpoint; its identity follows from the checkpoint's content, not from where it lies.

    Args:
        uri: a path, ``file://`` or ``s3://``: verl's ``global_step_N`` or ``actor``, a published training or model, or
            a Hugging Face folder, which is taken as it is.
    """

    @functools.cache
    def found_once() -> Located:
        return find(uri, Progress("import-model"))

    def depends(experiment: "Experiment") -> object:
        located = found_once()
        # Here and not while it runs: the same content may have been imported before under another policy.
        check_same_model(located, experiment, state_folder(), Progress("import-model"))
        return {
            "content": content_sha256(e for e in scan_folder(located.folder) if not e.path.startswith(_UNUSED)),
            "dtype": None if located.merged else experiment.policy.dtype,
        }

    def run(context: StepContext) -> Mapping[str, Scalar]:
        located = found_once()
        if located.merged:
            context.progress.phase("the model is merged already; checking its weights")
            from components.models.loading import check_model

            check_model(located.folder)
            shutil.copytree(located.folder, context.out / "model", ignore=shutil.ignore_patterns(MANIFEST_NAME))
            return {"merged": False, "checkpoint": uri}
        found = merge_verified(
            located.folder,
            context.out / "model",
            environment=verl_environment(context.experiment),
            log=context.work / "merge.log",
            dtype=context.experiment.policy.dtype,
            progress=context.progress,
        )
        return {**found, "merged": True, "checkpoint": uri}

    return Step(
        name="import-model",
        module="components.checkpoint.given",
        depends=depends,
        run=run,
        packages=PACKAGES,
        extra_modules=LOADED,
    )


def find(uri: str, progress: Progress) -> Located:
    """The weights at ``uri``; those of a bucket are fetched into the state folder, once.

    Raises:
        StepError: there are none, or the checkpoint is not whole.
        StorageError: the store cannot be reached.
    """
    if not uri.startswith("s3://"):
        return locate(Path(split_file_url(uri) if uri.startswith("file:") else uri).absolute())
    folder = state_folder() / "checkpoints" / hashlib.sha256(uri.encode()).hexdigest()[:_SHORT]
    head, key = split_uri(uri)
    store = Store.open(head)
    if store.exists(f"{key}/{MANIFEST_NAME}"):
        store.download(key, folder, progress)
    else:
        _fetch(store, key, folder, progress)
    return locate(folder)


def _fetch(store: Store, key: str, folder: Path, progress: Progress) -> None:
    """A folder that no manifest describes, as the trainer or someone else has put it there."""
    entries = [entry for entry in store.list(key) if not Path(entry.key).name.startswith(_UNUSED)]
    if not entries:
        raise StepError("no checkpoint: nothing lies below this URL", where=store.uri(key), remedy="check the prefix")
    # What lay there under another content must not complete this one.
    shutil.rmtree(folder, ignore_errors=True)
    files, root = store.arrow()
    progress.begin(len(entries), "file")
    for entry in entries:
        path = folder / entry.key.removeprefix(f"{key}/")
        with (
            atomic(path, entry.size) as target,
            files.open_input_stream(join(root, entry.key), compression=None) as source,
        ):
            shutil.copyfileobj(source, target, _BLOCK)
        if path.stat().st_size != entry.size:
            raise StorageError("a file came shorter than it is", where=store.uri(entry.key), remedy="run it again")
        progress.advance()
