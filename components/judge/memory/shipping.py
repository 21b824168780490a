"""A step's ledger reaches the store whatever becomes of the step."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from components.core.errors import GavelError
from components.core.step import StepContext
from components.core.store import Store
from components.core.store.keys import join
from components.judge.memory.ledger import Ledger
from components.judge.memory.segments import ship

LEDGER = "ledger.sqlite"
"""In the work folder of a step that judges."""

FOLDER = "ledger"
"""Folder of the segments inside the step's folder in the store."""


@contextlib.contextmanager
def shipped(path: Path, context: StepContext) -> Iterator[None]:
    """Ship the ledger at ``path`` when the block ends, well or not; its rows lie below ``<step's folder>/ledger``.

    A step that is killed ships nothing; when it runs again, what it had recorded is in its work folder and is shipped
    with the rest. A failure of the step goes before one of shipping, which is then only told; so it is where the step
    is not durable, which must work without a store.

    Raises:
        JudgeError: the ledger cannot be read.
        StorageError: the store does not take it.
    """
    try:
        yield
    except BaseException:
        _try_to_ship(path, context)
        raise
    if context.store is None:
        _try_to_ship(path, context)
    else:
        _ship(path, context)


def _try_to_ship(path: Path, context: StepContext) -> None:
    try:
        _ship(path, context)
    except GavelError as error:
        context.progress.phase(f"the ledger stays at {path} and is not in the store: {error.what}")


def _ship(path: Path, context: StepContext) -> None:
    if not path.exists() or (context.store is None and not context.store_url):
        return
    store = Store.open(context.store_url) if context.store is None else context.store
    with Ledger(path, make=False) as ledger:
        ship(ledger, store, join(context.place, FOLDER))
