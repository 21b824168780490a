"""Follows one RayJob to its end: what it waits for, how far it is, whether it still lives, why it failed."""

import datetime
import time
from collections.abc import Callable, Mapping
from typing import Any

from components.core.errors import ContractError, JudgeError, StepError, StorageError
from components.core.progress import Progress, clock_text
from components.core.store import Store
from components.core.store.keys import join
from components.kube.cluster import Cluster
from components.kube.kinds import RAY_JOBS
from components.kube.labels import ANNOTATION_SPEC
from components.kube.trouble import Trouble
from components.rayjob import messages
from components.rayjob.patience import Patience, Pulse
from components.rayjob.status import phase, queued
from components.rayjob.why import failure, trouble_text, troubles

RESULT = "result.json"
"""As :mod:`components.core.step.results` writes it; the step looks at the result itself afterwards."""

_LASTING = frozenset({"image-pull", "config"})
_SHOWN = frozenset({"evicted", "out-of-memory", "crash", "unschedulable", "probe"})


class HungError(Exception):
    """The driver shows no sign of life, or said itself that the trainer does not."""


class Follower:
    """Follows one job.

    Args:
        cluster: where it runs.
        store: where its driver leaves heartbeat, failure and result, below ``place``.
        steps: of the training.
        delete: deletes a job, and returns when its pods are gone.
    """

    def __init__(
        self,
        cluster: Cluster,
        store: Store,
        place: str,
        *,
        steps: int,
        patience: Patience,
        progress: Progress,
        delete: Callable[[Mapping[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster, self._store, self._place = cluster, store, place
        self._steps, self._patience, self._progress = steps, patience, progress
        self._delete, self._clock = delete, clock
        self._told = ""
        self._counting = False
        self._ran = False
        self._trouble_since: dict[str, float] = {}
        self._unseen_since: float | None = None
        self._unknown_since: float | None = None

    def follow(self, job: Mapping[str, Any]) -> None:
        """Return when the job is over and its result lies in the store, or when it ended well without one.

        Raises:
            HungError: it hangs; it is there still.
            JudgeError: the driver's judge is away for too long, or the driver said so.
            StepError: it failed, was deleted, or waited too long for nodes.
        """
        name = str(job["metadata"]["name"])
        # By our own clock from here on, whatever becomes of the machine's.
        self._since = self._clock() - max(0.0, time.time() - self._created(job))
        pulse = Pulse(name, self._patience, self._clock)
        for seen in self._cluster.watch(RAY_JOBS, name, poll=self._patience.poll):
            now = self._same(job, seen)
            if now is None:
                return
            job = now
            where = phase(job)
            if where == "succeeded" or (where == "failed" and self._published()):
                return
            if where == "failed":
                raise self._failure(job)
            if where == "running":
                self._ran, self._since = True, self._clock()
                self._look(job, pulse)
            else:
                pulse.rest()
                self._wait(job, where)

    def _same(self, job: Mapping[str, Any], now: dict[str, Any] | None) -> dict[str, Any] | None:
        """The job as it is now; None if it is gone, and its result is there."""
        spec = (job["metadata"].get("annotations") or {}).get(ANNOTATION_SPEC)
        if now is not None and now["metadata"]["uid"] != job["metadata"]["uid"]:
            # Another step ended it and began again under the same name.
            if (now["metadata"].get("annotations") or {}).get(ANNOTATION_SPEC) == spec:
                return now
            now = None
        if now is None:
            if self._published():
                return None
            raise StepError(
                "the training's job was deleted while it was followed, by somebody else",
                where=f"RayJob {self._cluster.namespace}/{job['metadata']['name']}",
                remedy="see who did (a person, a garbage collector), then run again: training resumes from its last "
                "checkpoint",
            )
        if now["metadata"].get("deletionTimestamp"):
            self._say("the job is being deleted by somebody else")
        return now

    def _look(self, job: Mapping[str, Any], pulse: Pulse) -> None:
        """At a running job's heartbeat."""
        try:
            new = pulse.see(messages.read_heartbeat(self._store, self._place))
        except (StorageError, ContractError) as error:
            # No answer of the store is no answer of the driver.
            self._say(f"the driver's heartbeat cannot be read: {error.what}")
            pulse.rest()
            return
        beat = pulse.beat
        if new and beat is not None:
            self._show(beat)
        if pulse.hangs:
            raise HungError(f"no progress for {clock_text(pulse.silent)}" + (f" in step {beat.step}" if beat else ""))
        if pulse.judge_is_gone:
            self._delete(job)
            raise JudgeError(
                "the training waits for its judge, longer than reward.pause_minutes, and was ended",
                where=f"RayJob {self._cluster.namespace}/{job['metadata']['name']}",
                remedy="see the judge, then run again: training resumes from its last checkpoint",
            )
        if beat is None or pulse.silent > self._patience.poll * 3:
            self._show_troubles(job)

    def _show(self, beat: messages.Heartbeat) -> None:
        if beat.state != "training" or beat.step < 1:
            self._say(f"{beat.state}" + (f": {beat.note}" if beat.note else ""))
            return
        done = beat.step - 1
        if not self._counting:
            self._progress.begin(self._steps, "step", done=done)
            self._counting = True
        self._told = ""
        self._progress.advance(max(0, done - self._progress.done), note=beat.note)

    def _wait(self, job: Mapping[str, Any], where: str) -> None:
        """For a job that does not run yet, or no more for a while."""
        wrong = [] if where == "queued" else troubles(self._cluster, job)
        unknown = ""
        if where == "queued":
            seen = queued(self._cluster, job)
            reason, unknown = seen.text, seen.unknown
        else:
            reason = trouble_text(wrong[0]) if wrong else "the Ray cluster starts"
        self._say(f"{'preempted, ' if self._ran and where == 'queued' else ''}{reason}")
        self._check_lasting(job, wrong)
        self._check_seen(job)
        self._check_known(job, unknown)
        waits = where == "queued" or any(trouble.kind == "unschedulable" for trouble in wrong)
        limit = self._patience.queue
        if waits and limit is not None and self._clock() - self._since > limit:
            self._delete(job)
            raise StepError(
                f"no place for the training within cluster.kubernetes.queue_minutes: {reason}",
                where=f"RayJob {self._cluster.namespace}/{job['metadata']['name']} (deleted)",
                remedy="run again later, raise queue_minutes, or ask for fewer GPUs",
            )

    def _check_lasting(self, job: Mapping[str, Any], wrong: list[Trouble]) -> None:
        lasting = {trouble.detail: trouble for trouble in wrong if trouble.kind in _LASTING}
        kinds = {trouble.kind for trouble in lasting.values()}
        now = self._clock()
        self._trouble_since = {kind: self._trouble_since.get(kind, now) for kind in kinds}
        if any(now - since > self._patience.trouble for since in self._trouble_since.values()):
            text = "; ".join(trouble_text(trouble) for trouble in lasting.values())
            self._delete(job)
            raise StepError(
                f"the training's pods do not start: {text}",
                where=f"RayJob {self._cluster.namespace}/{job['metadata']['name']} (deleted)",
                remedy="see image, secrets and claims that the cluster's configuration names, then run again",
            )

    def _check_seen(self, job: Mapping[str, Any]) -> None:
        """Without an operator a job would wait for ever: all its time limits are the operator's."""
        if (job.get("status") or {}).get("jobDeploymentStatus"):
            self._unseen_since = None
            return
        self._unseen_since = self._clock() if self._unseen_since is None else self._unseen_since
        unseen = self._clock() - self._unseen_since
        if unseen > self._patience.unseen:
            self._delete(job)
            raise StepError(
                f"KubeRay has not taken up the training's job for {clock_text(unseen)}",
                where=f"RayJob {self._cluster.namespace}/{job['metadata']['name']} (deleted)",
                remedy="see whether the operator runs and looks at this namespace "
                "(kubectl get pods -A -l app.kubernetes.io/name=kuberay-operator), then run again",
            )

    def _check_known(self, job: Mapping[str, Any], unknown: str) -> None:
        """Without Kueue a suspended job would wait for ever: nobody else admits it."""
        if not unknown:
            self._unknown_since = None
            return
        self._unknown_since = self._clock() if self._unknown_since is None else self._unknown_since
        waited = self._clock() - self._unknown_since
        if waited > self._patience.unseen:
            self._delete(job)
            raise StepError(
                f"nobody admits the training's job: {unknown}, for {clock_text(waited)}",
                where=f"RayJob {self._cluster.namespace}/{job['metadata']['name']} (deleted)",
                remedy="see whether Kueue runs, has its integration ray.io/rayjob, and manages this namespace "
                "(docs/cluster.md, Kueue); without Kueue set cluster.kubernetes.queue: null; then run again",
            )

    def _failure(self, job: Mapping[str, Any]) -> Exception:
        """The driver's own error where it left one, else what the cluster knows."""
        try:
            said = messages.read_failure(self._store, self._place)
        except (StorageError, ContractError) as error:
            self._say(f"the driver's word on its failure cannot be read: {error.what}")
            said = None
        if said is not None and said.attempt == job["metadata"]["name"]:
            return HungError(said.what) if said.hung else said.error()
        return failure(self._cluster, job)

    def _show_troubles(self, job: Mapping[str, Any]) -> None:
        for trouble in troubles(self._cluster, job):
            if trouble.kind in _SHOWN | _LASTING:
                self._say(trouble_text(trouble))

    def _published(self) -> bool:
        return self._store.exists(join(self._place, RESULT))

    def _say(self, text: str) -> None:
        """A line, unless it was the last one."""
        if text != self._told:
            self._told = text
            self._counting = False
            self._progress.phase(text)

    @staticmethod
    def _created(job: Mapping[str, Any]) -> float:
        moment = datetime.datetime.fromisoformat(str(job["metadata"]["creationTimestamp"]))
        return moment.timestamp()
