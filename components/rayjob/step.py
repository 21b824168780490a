"""The training step outside of its job: hands the work to a RayJob, follows it, and begins again where it hangs."""

import dataclasses
import functools
import os
from collections.abc import Mapping
from typing import Any

from components.core.errors import StepError
from components.core.step import Elsewhere
from components.core.store.keys import join
from components.judge.endpoint import resolve_endpoint
from components.judge.placement.standing import standing
from components.kube.cluster import Cluster
from components.rayjob import messages
from components.rayjob.attempts import AttemptLog
from components.rayjob.build import entrypoint, rayjob
from components.rayjob.cancelled import cancelled
from components.rayjob.follow import Follower, HungError
from components.rayjob.messages import REQUEST, Request
from components.rayjob.names import base_name, identity_labels
from components.rayjob.patience import Patience
from components.rayjob.pods import Training
from components.rayjob.termination import EXIT_TERMINATED, TerminatedError, terminable


def train_in_job(asked: Elsewhere) -> None:
    """Have a RayJob train; its result is in the store when this returns.

    Ended by SIGTERM it leaves the job running, for its next start to follow, unless the KFP API says that the run was
    cancelled.

    Raises:
        GavelError: as the driver raised it; or StepError for what became of the job.
    """
    experiment = asked.experiment
    with standing(experiment.served(), experiment.cluster, experiment=str(experiment.name), progress=asked.progress):
        _train(asked)


def _train(asked: Elsewhere) -> None:
    experiment = asked.experiment
    endpoints = {judge.name: resolve_endpoint(judge, asked.state, experiment.cluster) for judge in experiment.served()}
    first = Training(
        experiment, base_name(str(experiment.name), asked.identity), endpoints, os.environ.get("AWS_REGION") or None
    )
    cluster = Cluster.connect(first.kubernetes.namespace)
    messages.write(asked.store, asked.place, REQUEST, Request(experiment.to_json(), dict(asked.inputs), endpoints))
    run(asked, cluster, first, Patience.of(experiment))


def run(asked: Elsewhere, cluster: Cluster, first: Training, patience: Patience) -> None:
    """Submit or adopt, follow, and begin again after a hang.

    Args:
        asked: the step's work.
        cluster: where the job runs.
        first: the training under the name of its first attempt.
        patience: how long is waited for what.
    """
    entry = entrypoint(asked.store_url, join(asked.place, REQUEST))
    attempts = AttemptLog(
        cluster,
        asked.store,
        asked.place,
        first.name,
        identity_labels(str(asked.experiment.name), asked.identity),
        asked.progress,
    )
    body = functools.partial(_body, first, asked.identity, entry)
    job: dict[str, Any] = {}
    with terminable():
        try:
            while True:
                job = attempts.adopt_or_create(body)
                follower = Follower(
                    cluster,
                    asked.store,
                    asked.place,
                    steps=asked.experiment.training.steps,
                    patience=patience,
                    progress=asked.progress,
                    delete=attempts.delete,
                )
                try:
                    follower.follow(job)
                except HungError as error:
                    _begin_again(asked, attempts, job, error, patience.starts)
                    continue
                attempts.forget_hangs()
                return
        except TerminatedError:
            _terminated(asked, attempts)
            raise SystemExit(EXIT_TERMINATED) from None


def _body(first: Training, identity: str, entry: str, name: str) -> dict[str, Any]:
    return rayjob(dataclasses.replace(first, name=name), identity, entry)


def _begin_again(asked: Elsewhere, attempts: AttemptLog, job: Mapping[str, Any], error: HungError, starts: int) -> None:
    name = str(job["metadata"]["name"])
    hangs = attempts.end_hung(job)
    asked.progress.phase(f"the trainer hung: {error}; {name} was ended, hang {hangs} of {starts}")
    if hangs >= starts:
        attempts.forget_hangs()
        raise StepError(
            f"the trainer hung {hangs} times in a row: {error}",
            where=f"RayJob {attempts.cluster.namespace}/{name} (deleted)",
            remedy="see the driver's log (trainer.log in the work claim); raise training.stall_minutes if it was only "
            "slow; run again: training resumes from its last checkpoint",
        ) from error


def _terminated(asked: Elsewhere, attempts: AttemptLog) -> None:
    """Asked to end: end the job as well if the run was cancelled, and only then."""
    is_cancelled, how = cancelled()
    if is_cancelled:
        names = attempts.abandon()
        asked.progress.phase(f"the run was cancelled ({how}): deleted {', '.join(names) or 'nothing, there is no job'}")
        return
    asked.progress.phase(
        f"this step was asked to end, and the run is not known to be cancelled ({how}): the job runs on, and the step "
        "follows it when it is started again"
    )
