"""What the cluster reports on an object."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """One Event, or a series of the same one."""

    time: datetime.datetime
    """When it happened last, in UTC."""
    type: str
    """Normal or Warning."""
    reason: str
    message: str
    count: int


def event(body: Mapping[str, Any]) -> Event:
    """An Event of the core API. Newer reporters leave the old time fields null and count in ``series``."""
    series = body.get("series") or {}
    moment = (
        series.get("lastObservedTime")
        or body.get("lastTimestamp")
        or body.get("eventTime")
        or body.get("firstTimestamp")
        or body["metadata"]["creationTimestamp"]
    )
    return Event(
        time=datetime.datetime.fromisoformat(str(moment)).astimezone(datetime.UTC),
        type=str(body.get("type") or "Normal"),
        reason=str(body.get("reason") or ""),
        message=str(body.get("message") or "").strip(),
        count=int(series.get("count") or body.get("count") or 1),
    )
