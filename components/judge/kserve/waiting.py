"""Waiting until a judge is ready, or until it is clear why it will not be."""

import time
from collections.abc import Callable
from typing import Any

from components.core.errors import GavelError, JudgeError
from components.core.progress import clock_text
from components.judge.kserve.hopeless import hopeless, remedy, trouble_kind
from components.judge.kserve.look import Look, look
from components.judge.kserve.lookup import address_of
from components.judge.kserve.patience import Patience
from components.judge.leases.record import is_going
from components.kube.cluster import Cluster
from components.kube.errors import KubeError
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]

_LOG_LINES = 20


class GoneError(JudgeError):
    """Somebody deleted the judge while it was waited for."""


class Waiting:
    """Follows one InferenceService.

    Args:
        cluster: where it lies.
        judge: name of the judge, for messages.
        patience: limits.
        told: gets a line when something changes, and now and then.
    """

    def __init__(self, cluster: Cluster, judge: str, patience: Patience, told: Callable[[str], None]) -> None:
        self._cluster, self._judge, self._patience, self._told = cluster, judge, patience, told
        self._began = self._at = time.monotonic()
        self._queued = 0.0
        self._stage = ""
        self._kind: str | None = None
        self._since = self._began
        self._line, self._said = "", 0.0

    def until_answering(self, service: Object, ask: Callable[[str], None]) -> str:
        """The address at which it has answered.

        Args:
            service: the object as it was made or found.
            ask: asks one real question at an address; raises GavelError if the answer is none.

        Raises:
            GoneError: it was deleted.
            JudgeError: it cannot become ready, did not in time, or gives no verdict.
            KubeError: the API server refuses, or is away for too long.
        """
        ready_since: float | None = None
        uid, name = service["metadata"]["uid"], service["metadata"]["name"]
        for now in self._cluster.watch(INFERENCE_SERVICES, name, poll=self._patience.poll):
            if now is None or now["metadata"]["uid"] != uid or is_going(now):
                raise GoneError(
                    f"judge {self._judge} was deleted while it was coming up",
                    where=self._where(name),
                    remedy="see who deletes InferenceServices of this namespace, then run the step again",
                )
            address = address_of(now)
            seen = look(self._cluster, now)
            self._account(seen)
            if seen.stage == "ready" and address is not None:
                ready_since = ready_since or self._at
                try:
                    ask(address)
                except GavelError as error:
                    # Right after the first readiness, or in a server that comes and goes, an answer may fail once.
                    if time.monotonic() - ready_since > self._patience.verdict:
                        raise JudgeError(
                            f"judge {self._judge} is ready and gives no verdict: {error.what}",
                            where=f"{self._where(name)} at {address}",
                            remedy=error.remedy,
                        ) from error
                    self._tell(f"ready, but it gives no verdict yet: {error.what}")
                else:
                    return address
            else:
                self._tell(seen.line())
            if hopeless(seen, self._at - self._since, self._patience):
                raise self._failed(name, seen)
            spent = self._at - self._began - self._queued
            if spent > self._patience.start:
                raise self._failed(name, seen, f"not ready after {clock_text(spent)} with a node")
        raise AssertionError("a watch never ends")

    def _account(self, seen: Look) -> None:
        """Book the time since the last look on what was seen then."""
        now = time.monotonic()
        if self._stage == "waiting for a node":
            self._queued += now - self._at
        kind = trouble_kind(seen)
        if kind != self._kind:
            self._kind, self._since = kind, now
        self._stage, self._at = seen.stage, now

    def _tell(self, line: str) -> None:
        now = time.monotonic()
        if line != self._line or now - self._said >= self._patience.again:
            self._line, self._said = line, now
            self._told(f"judge {self._judge}, {clock_text(now - self._began)}: {line}")

    def _failed(self, name: str, seen: Look, why: str = "") -> JudgeError:
        kind = trouble_kind(seen)
        cause = seen.refused or (f"{seen.trouble.kind}: {seen.trouble.detail}" if seen.trouble else seen.line())
        what = f"judge {self._judge} cannot become ready: " + "; ".join(filter(None, (why, cause)))
        if kind in ("crash", "out-of-memory", "probe") and (said := self._last_words(seen)):
            what += f"\n  last lines of its log:\n{said}"
        return JudgeError(
            what,
            where=self._where(name) + (f", pod {seen.pod}" if seen.pod else ""),
            remedy=remedy(kind)
            if kind
            else "read the pod's log; raise deployment.start_minutes if it only needs longer",
        )

    def _last_words(self, seen: Look) -> str:
        if seen.pod is None:
            return ""
        container = seen.trouble.container if seen.trouble else None
        try:
            said = self._cluster.log(seen.pod, container, _LOG_LINES, previous=True) or self._cluster.log(
                seen.pod, container, _LOG_LINES
            )
        except KubeError as error:
            return f"    (it cannot be read: {error.what})"
        return "\n".join(f"    {line}" for line in said.rstrip().splitlines())

    def _where(self, name: str) -> str:
        return f"InferenceService {self._cluster.namespace}/{name}"
