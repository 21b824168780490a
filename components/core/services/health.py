"""Whether a local HTTP server answers."""

import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

Health = str | Callable[[str], bool]
"""A path that must answer with a 2xx status, or a function of the base URL that says whether all is well."""

_SECONDS = 5.0
_TAIL_LINES = 20
_TAIL_BYTES = 16 << 10


def is_healthy(url: str, health: Health) -> bool:
    """Ask once."""
    if callable(health):
        return health(url)
    # Whatever proxy the environment names is not for the loopback interface.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url + health, timeout=_SECONDS) as response:
            return 200 <= int(response.status) < 300
    except (urllib.error.URLError, OSError, ValueError):
        return False


def log_tail(path: Path, offset: int = 0) -> str:
    """The last lines of a log, of what was written after ``offset``."""
    with path.open("rb") as stream:
        end = stream.seek(0, 2)
        stream.seek(max(offset, end - _TAIL_BYTES))
        text = stream.read().decode(errors="replace")
    lines = [line for line in text.split("\n") if line.strip()][-_TAIL_LINES:]
    return "\n".join(f"    {line}" for line in lines)
