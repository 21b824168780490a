"""What became of each step of a run, and what its pod wrote."""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from components.core.errors import ConfigError, GavelError
from pipelines.placing import TITLES
from pipelines.remote.asked import namespace_of
from pipelines.remote.connect import Remote
from pipelines.remote.runs import find_run
from pipelines.remote.tasks import Task, seconds_of, tasks_of, took

_LINES = 100
_PATIENCE = 5.0
"""Seconds that the Kubernetes API gets; logs of a pod are an addition to what KFP tells."""
_LONGEST = 3600.0
PATIENCE_VARIABLE = "GAVEL_KUBE_PATIENCE"
"""In the environment: another number of seconds."""
PodLogs = Callable[[str, str, str], Sequence[tuple[str, str]]]
"""(namespace, run id, step) -> (pod, log) pairs."""


def run_logs(remote: Remote, given: str, step: str = "", *, pod_logs: PodLogs | None = None) -> str:
    """State, duration and errors of the steps; and the log of ``step``, or of the step that failed.

    Args:
        remote: where.
        given: see :func:`pipelines.remote.runs.find_run`.
        step: empty for the whole run.
        pod_logs: for tests; by default the Kubernetes API is asked.

    Raises:
        ConfigError: there is no such step.
        KfpError: there is no such run, or KFP does not answer.
    """
    if step and step not in TITLES:
        raise ConfigError(f"there is no step {step!r}", where="STEP", remedy=f"one of {', '.join(TITLES)}")
    run = find_run(remote, given)
    tasks = tasks_of(run)
    seconds = took(seconds_of(run.created_at, run.finished_at))
    text = [f"run {run.run_id} ({run.display_name}): {str(run.state or 'unknown').lower()}, {seconds}"]
    if run.error is not None and run.error.message:
        text.append(f"  {run.error.message}")
    chosen = [task for task in tasks if not step or task.step == step]
    text += _table(chosen)
    if step and not chosen:
        text.append(f"the run has not come to {step}")
    for name in [step] if step and chosen else [task.step for task in tasks if task.state == "failed"]:
        text += ["", *_pods(namespace_of(remote), run.run_id, name, pod_logs or _from_kubernetes)]
    text += ["", f"page: {remote.run_page(run.run_id)}"]
    return "\n".join(text)


def _table(tasks: Sequence[Task]) -> list[str]:
    width = max((len(task.step) for task in tasks), default=0)
    text = []
    for task in tasks:
        text.append(f"  {task.step.ljust(width)}  {task.state.ljust(9)}  {took(task.seconds)}")
        text += [f"      {error}" for error in task.errors]
    return text


def _pods(namespace: str, run_id: str, step: str, pod_logs: PodLogs) -> list[str]:
    command = (
        f"kubectl -n {namespace} logs -l pipeline/runid={run_id},gavel.dev/step={step} -c main --prefix --tail={_LINES}"
    )
    try:
        found = pod_logs(namespace, run_id, step)
    except GavelError as error:
        return [f"the log of {step} cannot be read from here: {str(error).splitlines()[0]}", f"  {command}"]
    if not found:
        return [f"Kubernetes has no pods of {step} any more; the UI may have kept the log: see the page below"]
    return [line for pod, log in found for line in (f"--- {step}, pod {pod}, last {_LINES} lines", log.rstrip())]


def _from_kubernetes(namespace: str, run_id: str, step: str) -> list[tuple[str, str]]:
    from components.kube.cluster import Cluster

    cluster = Cluster.connect(namespace, patience=_patience())
    pods: list[dict[str, Any]] = cluster.pods({"pipeline/runid": run_id, "gavel.dev/step": step})
    names = sorted((pod["metadata"].get("creationTimestamp") or "", pod["metadata"]["name"]) for pod in pods)
    return [(name, cluster.log(name, "main", lines=_LINES)) for _, name in names]


def _patience() -> float:
    """Seconds for the Kubernetes API.

    Raises:
        ConfigError: the variable holds no such number.
    """
    text = os.environ.get(PATIENCE_VARIABLE, "").strip()
    try:
        seconds = float(text) if text else _PATIENCE
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _LONGEST:
        raise ConfigError(
            f"{PATIENCE_VARIABLE} is {text[:40]!r}, and no number of seconds above 0 and up to {_LONGEST:g}",
            where=f"${PATIENCE_VARIABLE}",
            remedy=f"set it to a number, or unset it for {_PATIENCE:g}",
        )
    return seconds
