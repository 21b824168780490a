"""Runs one program and ends it when the supervising command is gone, for programs that cannot watch for themselves.

``python -m components.core.services.guard --supervisor PID:START [--grace S] [--unlink PATH]... -- PROGRAM ARGUMENTS``
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from components.core.services.process import ProcessId, adopt_orphans, die_with_parent, kill_descendants

_INTERVAL = 0.25
EXIT_NOT_STARTED = 127


def main(arguments: Sequence[str]) -> int:
    """Run the program until it ends, a signal asks for its end, or the supervisor is gone. Returns its exit status."""
    parser = argparse.ArgumentParser(prog="guard")
    parser.add_argument("--supervisor", required=True, type=ProcessId.parse)
    parser.add_argument("--grace", type=float, default=5.0)
    parser.add_argument("--unlink", action="append", default=[], type=Path)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args(arguments)
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ask)
    adopt_orphans()
    try:
        # The child's own session, so that a signal to the guard's group leaves it to the guard to end the child.
        child = subprocess.Popen(options.program, preexec_fn=die_with_parent, start_new_session=True)  # noqa: PLW1509
    except OSError as error:
        sys.stderr.write(f"cannot start {options.program[0]}: {error.strerror}\n")
        return EXIT_NOT_STARTED
    try:
        while child.poll() is None and not asked and options.supervisor.alive():
            time.sleep(_INTERVAL)
        if child.poll() is None:
            _end(child, options.grace)
    finally:
        kill_descendants()
        for path in options.unlink:
            path.unlink(missing_ok=True)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    child.terminate()
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
