"""Finding runs, and the table of them."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from components.core.columns import aligned
from components.core.errors import ConfigError
from pipelines.remote.connect import Remote
from pipelines.remote.errors import KfpError, no_answer
from pipelines.remote.tasks import failing, seconds_of, tasks_of, took

SHOWN = 20
SHORT = 8
"""Characters of an id that a table shows; any beginning that fits one run alone names it."""
_PAGE = 100
_MOST_PAGES = 1000
_LOOKED_THROUGH = 1000
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


NAME_RUN = "give RUN=ID, or its beginning; make runs lists them"
"""What to do where no run is named."""


def find_run(remote: Remote, given: str) -> Any:
    """The run, with its details, whose id is or begins with ``given``, or whose name is that.

    Raises:
        ConfigError: nothing was given, or several runs fit.
        KfpError: none fits, or KFP does not answer.
    """
    given = given.strip()
    if not given:
        raise ConfigError("no run is named", where="RUN", remedy=NAME_RUN)
    if _UUID.fullmatch(given):
        return _get(remote, given)
    found = []
    newest = []
    for run in _newest(remote, None):
        newest.append(run)
        if run.run_id.startswith(given) or run.display_name == given:
            found.append(run)
    if len(found) > 1:
        listed = ", ".join(f"{run.run_id} ({run.display_name})" for run in found[:5])
        raise ConfigError(f"{len(found)} runs fit {given!r}: {listed}", where="RUN", remedy="write more of the id")
    if not found:
        known = ", ".join(run.run_id[:SHORT] for run in newest[:5])
        remedy = f"the newest runs are {known}" if known else "KFP has no runs here: check KFP_HOST and KFP_NAMESPACE"
        raise KfpError(f"there is no run {given!r}", where=remote.host, remedy=remedy)
    return _get(remote, found[0].run_id)


def runs_table(remote: Remote, experiment: str = "") -> str:
    """The newest runs, of one experiment or of all, as text.

    Raises:
        KfpError: there is no such experiment, or KFP does not answer.
    """
    folders = _experiments(remote)
    chosen = None
    if experiment:
        chosen = next((key for key, name in folders.items() if name == experiment), None)
        if chosen is None:
            known = ", ".join(sorted(set(folders.values()))) or "none"
            raise KfpError(f"KFP has no experiment {experiment!r}", where=remote.host, remedy=f"it has: {known}")
    rows: list[tuple[str, ...]] = [("run", "experiment", "state", "started (UTC)", "took", "failing step")]
    for run, _ in zip(_newest(remote, chosen), range(SHOWN), strict=False):
        rows.append(_row(remote, run, folders))
    if len(rows) == 1:
        return "no runs yet"
    lines = aligned(rows)
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _row(remote: Remote, run: Any, folders: dict[str, str]) -> tuple[str, ...]:
    state = str(run.state or "unknown")
    step = ""
    if state == "FAILED":
        # Lists may come without the tasks.
        detailed = run if run.run_details and run.run_details.task_details else _get(remote, run.run_id)
        step = failing(tasks_of(detailed)) or "?"
    started = run.created_at.strftime("%Y-%m-%d %H:%M") if run.created_at else "-"
    folder = folders.get(run.experiment_id, "?")
    return run.run_id[:SHORT], folder, state.lower(), started, took(seconds_of(run.created_at, run.finished_at)), step


def _get(remote: Remote, run_id: str) -> Any:
    with remote.asking():
        run = remote.client.get_run(run_id)
    if getattr(run, "run_id", None) != run_id:
        raise no_answer(remote.host, f"it has no run {run_id}")
    return run


def _newest(remote: Remote, experiment_id: str | None) -> Iterator[Any]:
    def page(token: str) -> Any:
        return remote.client.list_runs(
            page_token=token,
            page_size=_PAGE,
            sort_by="created_at desc",
            experiment_id=experiment_id,
            namespace=remote.namespace or None,
        )

    for count, run in enumerate(_pages(remote, page, "runs")):
        if count >= _LOOKED_THROUGH:
            return
        if not isinstance(run.run_id, str):
            raise no_answer(remote.host, "it lists a run without an id")
        yield run


def _experiments(remote: Remote) -> dict[str, str]:
    """Name by id."""

    def page(token: str) -> Any:
        return remote.client.list_experiments(page_token=token, page_size=_PAGE, namespace=remote.namespace or None)

    return {one.experiment_id: str(one.display_name) for one in _pages(remote, page, "experiments")}


def _pages(remote: Remote, page: Callable[[str], Any], kind: str) -> Iterator[Any]:
    """What a list has, from all of its pages."""
    token = ""
    for _ in range(_MOST_PAGES):
        with remote.asking():
            found = page(token)
            listed, following = list(getattr(found, kind) or []), str(found.next_page_token or "")
        yield from listed
        if not following or following == token:
            return
        token = following
    raise no_answer(remote.host, f"its list of {kind} has no end")
