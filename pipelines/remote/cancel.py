"""Ending a run on a cluster."""

from pipelines.remote.connect import Remote
from pipelines.remote.runs import find_run
from pipelines.remote.tasks import ENDED


def cancel(remote: Remote, given: str) -> str:
    """Have KFP terminate a run, and return a sentence about it.

    Its training's RayJob goes with it, and its exit handler gives the judge back; where the handler does not run, the
    lease expires.

    Args:
        remote: where.
        given: see :func:`pipelines.remote.runs.find_run`.

    Raises:
        KfpError: there is no such run, or KFP does not do it.
    """
    run = find_run(remote, given)
    state = str(run.state or "unknown")
    if state in ENDED:
        return f"run {run.run_id} has ended already: {state.lower()}"
    with remote.asking():
        remote.client.terminate_run(run.run_id)
    return f"run {run.run_id} is being cancelled; see make runs"
