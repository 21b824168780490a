"""The leases of one judge: an annotation of its InferenceService.

One annotation holds them all, ``{"leases": {HASH: {holder, experiment, expires}}, "closing": TIME?}``. Each change is
written with the resourceVersion that was read, so none is lost. One key under a fixed name, because KServe copies
annotations to the pods: the InferenceService overrides exactly this key there.

``closing`` is written in the same change that finds no live lease, before the object is deleted, and is final: whoever
comes later takes no lease on a judge that is closing, but waits until it is gone and makes a new one. So a judge is
never deleted under a lease that was granted.

Expiry is a point in time by the clock of who wrote it, and is read by the clock of another machine. A lease counts as
dead only ``SKEW`` after it, so clocks may differ by that much; leases are hours, renewed at a quarter of their time.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from components.core.errors import JudgeError
from components.judge.kserve.inference_service import ANNOTATION_LEASES

SKEW: Final = timedelta(minutes=5)
"""By how much the clocks of two machines may differ."""
_HASH = 12


@dataclasses.dataclass(frozen=True, slots=True)
class Lease:
    """One holder's.

    Attributes:
        holder: the run.
        experiment: what it runs, for people.
        expires: with time zone.
    """

    holder: str
    experiment: str
    expires: datetime

    @property
    def key(self) -> str:
        """Of the holder, whatever characters its name has."""
        return hashlib.sha256(self.holder.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]

    def alive(self, now: datetime) -> bool:
        """Whether it holds by a clock that may be ahead."""
        return now - SKEW < self.expires


@dataclasses.dataclass(frozen=True, slots=True)
class Leases:
    """All leases of one judge."""

    held: Mapping[str, Lease] = dataclasses.field(default_factory=dict)
    """By key of the holder."""
    closing: str | None = None
    """When it was decided to end the judge."""

    def live(self, now: datetime) -> list[Lease]:
        """Those that hold."""
        return [lease for lease in self.held.values() if lease.alive(now)]

    def of(self, holder: str) -> Lease | None:
        """The holder's own, alive or not."""
        return self.held.get(Lease(holder, "", _EPOCH).key)

    def with_lease(self, lease: Lease, now: datetime) -> "Leases":
        """With the holder's lease in place of its former one, and without dead ones."""
        kept = {key: other for key, other in self.held.items() if other.alive(now)}
        return Leases({**kept, lease.key: lease}, self.closing)

    def without(self, holder: str, now: datetime) -> "Leases":
        """Without the holder's lease and dead ones; closing if none is left."""
        mine = Lease(holder, "", _EPOCH).key
        kept = {key: other for key, other in self.held.items() if key != mine and other.alive(now)}
        return Leases(kept, self.closing if kept or self.closing else now.isoformat(timespec="seconds"))

    def swept(self, now: datetime) -> "Leases":
        """Closing if no lease is alive; as it is otherwise."""
        if self.closing or self.live(now):
            return self
        return Leases({}, now.isoformat(timespec="seconds"))

    def to_json(self) -> str:
        """As the annotation."""
        held = {
            key: {"holder": lease.holder, "experiment": lease.experiment, "expires": lease.expires.isoformat()}
            for key, lease in sorted(self.held.items())
        }
        return json.dumps({"leases": held, **({"closing": self.closing} if self.closing else {})})


_EPOCH = datetime.fromtimestamp(0, UTC)


def new_lease(holder: str, experiment: str, minutes: float) -> Lease:
    """A lease from now on."""
    return Lease(holder, experiment, (datetime.now(UTC) + timedelta(minutes=minutes)).replace(microsecond=0))


def leases_of(service: Mapping[str, Any]) -> Leases | None:
    """What an InferenceService's annotation says; None if it has none, and so is not ours to end.

    Raises:
        JudgeError: it cannot be read. Nobody may then say that no lease is left.
    """
    metadata = service["metadata"]
    text = (metadata.get("annotations") or {}).get(ANNOTATION_LEASES)
    if text is None:
        return None
    try:
        data = json.loads(text)
        held = {
            str(key): Lease(str(each["holder"]), str(each["experiment"]), _moment(each["expires"]))
            for key, each in data["leases"].items()
        }
        return Leases(held, str(data["closing"]) if data.get("closing") else None)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise JudgeError(
            f"its leases cannot be read: {error}",
            where=f"InferenceService {metadata.get('namespace')}/{metadata['name']}: annotation {ANNOTATION_LEASES}",
            remedy="if no run uses the judge any more, delete the InferenceService by hand",
        ) from error


def written(service: dict[str, Any], leases: Leases) -> dict[str, Any]:
    """The object with these leases."""
    annotations = {**(service["metadata"].get("annotations") or {}), ANNOTATION_LEASES: leases.to_json()}
    return {**service, "metadata": {**service["metadata"], "annotations": annotations}}


def is_going(service: Mapping[str, Any]) -> bool:
    """Whether it is being deleted, or that was decided."""
    leases = leases_of(service)
    return bool(service["metadata"].get("deletionTimestamp")) or (leases is not None and leases.closing is not None)


def _moment(text: object) -> datetime:
    found = datetime.fromisoformat(str(text))
    if found.tzinfo is None:
        raise ValueError(f"{text!r} names no time zone")
    return found.astimezone(UTC)
