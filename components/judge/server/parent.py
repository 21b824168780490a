"""The server must not outlive the command that started it."""

import asyncio
from pathlib import Path


def start_time(pid: int) -> int | None:
    """Start of a process in clock ticks since boot (field 22 of /proc/PID/stat); None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command, in parentheses, may itself hold spaces and parentheses.
    fields = stat.rsplit(")", 1)[1].split()
    return None if fields[0] == "Z" else int(fields[19])


async def wait_until_gone(parent: str, every: float = 1.0) -> None:
    """Return once the process ``PID:START`` has ended (or its number belongs to another process)."""
    pid, _, start = parent.partition(":")
    while start_time(int(pid)) == int(start):
        await asyncio.sleep(every)
