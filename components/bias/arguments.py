"""What the commands about probes take from a shell, read with words that a user can act on."""

import argparse
from collections.abc import Callable
from pathlib import Path

from components.core.errors import ConfigError

_DIGITS = 9
"""Of the largest number that is of use to anybody here."""


def at_least(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from ``least`` on, for :meth:`argparse.ArgumentParser.add_argument`."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > _DIGITS or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return read


def names(text: str) -> list[str]:
    """What stands between the commas, without the spaces around it."""
    return [name for each in text.split(",") if (name := each.strip())]


def make_output(folder: Path) -> None:
    """Make the folder of ``--output`` where there is none.

    Raises:
        ConfigError: there can be none.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"no folder can be made there: {error.strerror}", where=f"--output {folder}", remedy="name another folder"
        ) from error
