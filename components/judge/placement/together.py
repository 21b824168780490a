"""Several judges of one run that come up side by side, since each may wait for nodes and weights for long."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

from components.core.errors import GavelError, JudgeError

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec


def side_by_side(
    judges: "Sequence[JudgeSpec]",
    up: "Callable[[JudgeSpec], str]",
    kept: "Callable[[JudgeSpec], AbstractContextManager[None]]",
    told: Callable[[str], None],
) -> dict[str, str]:
    """Where each judge answers, by name, in the order given.

    Args:
        judges: at least one.
        up: brings one up and returns its URL.
        kept: holds one that is up, until the others are.
        told: is told of each that does not come up, at once.

    Raises:
        GavelError: one does not come up, when it is known what became of the others; they stay.
    """
    urls: dict[str, str] = {}
    failures: list[GavelError] = []
    with ExitStack() as held, ThreadPoolExecutor(max_workers=len(judges)) as pool:
        waiting = {pool.submit(up, judge): judge for judge in judges}
        # A failure is told when it is there, and not when slower ones are done.
        for future in as_completed(waiting):
            name = waiting[future].name
            try:
                urls[name] = future.result()
            except GavelError as error:
                told(f"judge {name} does not come up: {error.what}")
                failures.append(_of_judge(name, error))
            else:
                # The others may wait for nodes for longer than a lease lasts.
                held.enter_context(kept(waiting[future]))
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise JudgeError(
            f"{len(failures)} of {len(judges)} judges do not come up: " + "; ".join(each.what for each in failures),
            where="; ".join(filter(None, (each.where for each in failures))),
            remedy="; ".join(dict.fromkeys(filter(None, (each.remedy for each in failures)))),
        )
    return {judge.name: urls[judge.name] for judge in judges}


def _of_judge(name: str, error: GavelError) -> GavelError:
    """The failure, with the judge's name where it has it not."""
    if name in error.what:
        return error
    return JudgeError(f"judge {name} does not come up: {error.what}", where=error.where, remedy=error.remedy)
