"""The overlay of known mistakes in the official data: ``corrections.yaml``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import ContractError

FILE = Path(__file__).with_name("corrections.yaml")

Instruction = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Correction:
    """One change: instruction number ``place`` of row ``key``, what it was, and what it is now (None: left out)."""

    key: int
    place: int
    was: Instruction
    now: Instruction | None
    why: str


@dataclass
class Corrections:
    """The changes, and the keys of those that were applied."""

    changes: Sequence[Correction]
    applied: list[int] = field(default_factory=list)

    @classmethod
    def read(cls) -> "Corrections":
        """The changes of the file beside this module."""
        return cls([_correction(entry) for entry in yaml.safe_load(FILE.read_text(encoding="utf-8"))])

    def apply(self, key: object, pairs: Sequence[Instruction], where: str) -> list[Instruction]:
        """A row's instructions after correction.

        Raises:
            ContractError: the row is not what the official file has there.
        """
        found: list[Instruction | None] = list(pairs)
        for change in self.changes:
            if change.key != key:
                continue
            if change.place >= len(pairs) or _without_nulls(pairs[change.place]) != change.was:
                raise ContractError(
                    f"instruction {change.place} is not the one that --corrected mends",
                    where=where,
                    remedy="the corrections are for the official file; leave --corrected out for another",
                )
            found[change.place] = change.now
            self.applied.append(change.key)
        return [pair for pair in found if pair is not None]


def _correction(entry: Mapping[str, Any]) -> Correction:
    was, now = entry["was"], entry["now"]
    return Correction(
        key=entry["key"],
        place=entry["instruction"],
        was=(was["id"], was["kwargs"]),
        now=None if now is None else (now["id"], now["kwargs"]),
        why=entry["why"],
    )


def _without_nulls(pair: Instruction) -> Instruction:
    return pair[0], {name: value for name, value in pair[1].items() if value is not None}
