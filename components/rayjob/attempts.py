"""Which attempt at a training is to be followed: one that runs, or a new one."""

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any

from components.core.errors import StepError
from components.core.progress import Progress
from components.core.store import Store
from components.core.store.keys import join
from components.kube.cluster import Cluster
from components.kube.errors import AlreadyExistsError
from components.kube.kinds import RAY_JOBS
from components.kube.labels import ANNOTATION_SPEC
from components.rayjob import messages
from components.rayjob.messages import ATTEMPTS, FAILURE, Attempts
from components.rayjob.names import LAST_ATTEMPT, attempt_name, attempt_number
from components.rayjob.status import ended, phase

_GONE_SECONDS = 600.0
_UNCLEAR = 20
"""How often a job may be there for one request and not for the next."""


@dataclasses.dataclass(frozen=True)
class AttemptLog:
    """The attempts at one result: those in the cluster, and what the store remembers of others."""

    cluster: Cluster
    store: Store
    place: str
    base: str
    """Name of the first attempt."""
    labels: Mapping[str, str]
    """By which all attempts are found."""
    progress: Progress

    def adopt_or_create(self, body: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        """The job to follow, which is there afterwards.

        One that has not ended is adopted if the same was asked for; one that ended stays for people to look at, and
        the next attempt gets the next number.

        Args:
            body: makes the object of an attempt's name.

        Raises:
            StepError: a job with another spec is at work on this result. Two would write into one work folder.
            AlreadyExistsError: there is an object of the job's name that is no attempt at this result, or that no list
                shows.
        """
        unclear = 0
        while True:
            jobs = self._jobs()
            alive = [job for job in jobs.values() if not ended(job)]
            going = [job for job in alive if job["metadata"].get("deletionTimestamp")]
            if going:
                # That of a run that was cancelled, perhaps: its pods have the work folder until it is gone.
                name = going[0]["metadata"]["name"]
                unclear += 1
                if unclear > _UNCLEAR:
                    raise StepError(
                        f"a job that is being deleted goes and is there again, {unclear} times",
                        where=f"RayJob {self.cluster.namespace}/{name}",
                        remedy="see who makes and deletes it, and whether the API server is well, then run again",
                    )
                self.progress.phase(f"RayJob {name} is being deleted; waiting until it is gone")
                self.delete(going[0])
                continue
            if alive:
                return self._adopted(alive[-1], body)
            number = self._next(jobs)
            wanted = body(attempt_name(self.base, number))
            # Numbers come again; an old word on a failure must not.
            self.store.delete(join(self.place, FAILURE))
            try:
                job = self.cluster.create(RAY_JOBS, wanted)
            except AlreadyExistsError:
                # Another step was faster, or an answer was lost on its way; the list shows it now.
                found = self.cluster.get(RAY_JOBS, str(wanted["metadata"]["name"]))
                ours = found is None or found["metadata"].get("labels", {}).items() >= dict(self.labels).items()
                # A list that goes on without it, or one that says it is gone while none can be made, is not to be
                # trusted.
                unclear += 1
                if not ours or unclear >= _UNCLEAR:
                    raise
                time.sleep(min(2.0, 0.05 * unclear))
                continue
            self._note(newest=number)
            self.progress.phase(f"RayJob {self.cluster.namespace}/{job['metadata']['name']} is submitted")
            return job

    def end_hung(self, job: Mapping[str, Any]) -> int:
        """Delete a job that hangs, wait until its pods are gone, and return how many hung in a row."""
        name = str(job["metadata"]["name"])
        hangs = messages.read_attempts(self.store, self.place).hangs + 1
        # First the note: what is deleted can no longer tell.
        self._note(newest=attempt_number(self.base, name) or 0, hangs=hangs)
        now = self.cluster.get(RAY_JOBS, name)
        # One that ended by itself stays for people to look at.
        if now is not None and not ended(now):
            self.delete(job)
        return hangs

    def abandon(self) -> list[str]:
        """Delete every job that has not ended, without waiting; their names."""
        alive = [job for job in self._jobs().values() if not ended(job)]
        for job in alive:
            self.cluster.delete(RAY_JOBS, str(job["metadata"]["name"]), uid=str(job["metadata"]["uid"]))
        return [str(job["metadata"]["name"]) for job in alive]

    def forget_hangs(self) -> None:
        """Let a later start of the step begin to count anew."""
        self._note(hangs=0)

    def delete(self, job: Mapping[str, Any]) -> None:
        """Delete this very job, and wait until its pods are gone, so that no other attempt meets them."""
        name, uid = str(job["metadata"]["name"]), str(job["metadata"]["uid"])
        self.cluster.delete(RAY_JOBS, name, uid=uid, cascade="foreground")
        end = time.monotonic() + _GONE_SECONDS
        for now in self.cluster.watch(RAY_JOBS, name, poll=5.0):
            if now is None or str(now["metadata"]["uid"]) != uid:
                return
            if time.monotonic() > end:
                raise StepError(
                    f"the job is still being deleted after {_GONE_SECONDS / 60:.0f} min",
                    where=f"RayJob {self.cluster.namespace}/{name}",
                    remedy="see its finalizers and its pods, and whether the KubeRay operator runs",
                )

    def _jobs(self) -> dict[int, dict[str, Any]]:
        found = {}
        for job in self.cluster.list(RAY_JOBS, dict(self.labels)):
            number = attempt_number(self.base, str(job["metadata"]["name"]))
            if number is not None:
                found[number] = job
        return dict(sorted(found.items(), key=lambda item: str(item[1]["metadata"]["creationTimestamp"])))

    def _adopted(self, job: dict[str, Any], body: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        name = str(job["metadata"]["name"])
        wanted = body(name)["metadata"]["annotations"][ANNOTATION_SPEC]
        found = (job["metadata"].get("annotations") or {}).get(ANNOTATION_SPEC)
        if found == wanted:
            self.progress.phase(f"RayJob {self.cluster.namespace}/{name} is there ({phase(job)}) and is followed")
            return job
        raise StepError(
            f"a job with another spec trains this result already ({phase(job)})",
            where=f"RayJob {self.cluster.namespace}/{name}",
            remedy=f"wait for it, cancel its run, or delete it (kubectl -n {self.cluster.namespace} delete rayjob "
            f"{name}), then run again: training resumes from its last checkpoint",
        )

    def _next(self, jobs: Mapping[int, dict[str, Any]]) -> int:
        """The number after the newest; at the end of numbers the ended jobs go, and they begin anew."""
        newest = max([messages.read_attempts(self.store, self.place).newest, *jobs])
        if newest < LAST_ATTEMPT:
            return newest + 1
        for job in jobs.values():
            self.delete(job)
        return 0

    def _note(self, *, newest: int | None = None, hangs: int | None = None) -> None:
        known = messages.read_attempts(self.store, self.place)
        noted = Attempts(known.newest if newest is None else newest, known.hangs if hangs is None else hangs)
        messages.write(self.store, self.place, ATTEMPTS, noted)
