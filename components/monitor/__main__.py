"""The command line: ``python -m components.monitor live RUN`` and ``analyze RUN``."""

import argparse
import re
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TextIO

from components.core.errors import ConfigError, GavelError
from components.core.services.state import state_folder
from components.monitor.analysis import analyse
from components.monitor.place import Watched
from components.monitor.screen import LAST, draw, separator
from components.monitor.snapshot import Snapshot
from components.monitor.status import Kind

_CLEAR = "\x1b[H\x1b[2J"
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status: 1 for an error, and for a run that is stopped or failed."""
    options = _parser().parse_args(arguments)
    try:
        return _COMMANDS[options.command](options)
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read has read enough.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _live(options: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watched = Watched(options.run, state_folder())
    return follow(watched, sys.stdout, every=options.every, last=options.last, once=options.once)


def follow(watched: Watched, out: TextIO, *, every: float, last: int, once: bool) -> int:
    """Draw the run again and again, until nothing more comes by itself; the exit status.

    On a terminal a view takes the place of the one before. Elsewhere one is printed where something has changed.

    Args:
        watched: the run.
        out: where to.
        every: seconds between two looks.
        last: steps that are shown one by one.
        once: whether one look is enough.
    """
    before = ""
    while True:
        found = watched.look()
        view = draw(found, last=last)
        if view != before:
            if out.isatty() and not once:
                out.write(f"{_CLEAR}{datetime.now().astimezone():%H:%M:%S}  {view}\n")
            else:
                head = "" if once else f"{separator(datetime.now().astimezone())}\n"
                out.write(f"{head}{view}\n")
            out.flush()
            before = view
        if once or found.stand.over:
            return 1 if found.stand.kind in (Kind.STOPPED, Kind.FAILED) else 0
        time.sleep(every)


def _analyze(options: argparse.Namespace) -> int:
    found = Watched(options.run, state_folder()).look()
    samples = [sample for sample in found.samples if _inside(sample.step, options.steps)]
    if not samples:
        raise ConfigError(
            f"no response {'of these steps' if options.steps else 'yet'}: the run is {found.stand.kind}",
            where=found.where,
            remedy="wait for its first step, or name another run",
        )
    sections = analyse(samples, ranges=options.ranges, scale=found.facts.scale)
    print(_title(found))
    for section in sections:
        print(f"\n{section.text()}")
    if options.csv:
        folder = Path(options.csv)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for section in sections:
                (folder / f"{section.key}.csv").write_text(section.csv(), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"cannot be written: {error.strerror}", where=str(folder)) from error
        print(f"\ntables: {folder}")
    return 0


def _title(found: Snapshot) -> str:
    lines = [f"{found.facts.name}: {found.stand.kind}", found.where, *(f"note: {note}" for note in found.notes)]
    if found.as_of is not None:
        lines.append(f"as of the checkpoint of step {found.as_of}")
    return "\n".join(lines)


def _inside(step: int, steps: tuple[int, int] | None) -> bool:
    return steps is None or steps[0] <= step <= steps[1]


def _steps(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no step and no range such as 10-20")
    return int(found[1]), int(found[2] or found[1])


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.2 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0.2 to 3600")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m components.monitor", description="Look on at a training.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = "an experiment's name; a work folder; a published training; or a training's folder or s3:// URL in the store"
    live = commands.add_parser("live", help="show how a run stands, until it is over")
    live.add_argument("run", help=run)
    live.add_argument("--every", type=_seconds, default=5.0, help="seconds between two looks (default: 5)")
    live.add_argument("--last", type=_positive, default=LAST, help=f"steps shown one by one (default: {LAST})")
    live.add_argument("--once", action="store_true", help="look once")
    analyze = commands.add_parser("analyze", help="tables by domain and steps, with intervals")
    analyze.add_argument("run", help=run)
    analyze.add_argument("--steps", type=_steps, help="these alone, such as 10-20")
    ranges = "ranges that the steps are divided into (default: 4)"
    analyze.add_argument("--ranges", type=_positive, default=4, help=ranges)
    analyze.add_argument("--csv", default="", help="folder for the tables as CSV")
    return parser


_COMMANDS = {"live": _live, "analyze": _analyze}

if __name__ == "__main__":
    sys.exit(main())
