"""How long to wait before a call is repeated."""

import datetime
import email.utils
import random

_BASE = 0.25
_LONGEST = 10.0


def full_jitter(repeat: int, dice: random.Random) -> float:
    """Seconds before repetition number ``repeat`` (from 0): uniform between 0 and a doubling limit, so that many
    callers who failed together do not come back together."""
    return dice.uniform(0.0, min(_LONGEST, _BASE * 2.0 ** min(repeat, 16)))


def retry_after(header: str | None, now: datetime.datetime) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, section 10.2.3: seconds or a date); None if it is absent,
    not readable, or asks for no wait."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = email.utils.parsedate_to_datetime(header)
            if date.tzinfo is None:
                date = date.replace(tzinfo=datetime.UTC)
            seconds = (date - now).total_seconds()
        except (ValueError, OverflowError, TypeError):
            return None
    return wish(seconds)


def wish(seconds: float) -> float | None:
    """A wait that a server asks for; None where it asks for none: 0 says nothing about when it will take a call, and
    no number is none."""
    return seconds if 0.0 < seconds < float("inf") else None
