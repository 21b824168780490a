"""The canaries of a training as rows of a study's result, from the table that the training published."""

from collections.abc import Sequence
from pathlib import Path

from components.bias.drift.result import Canary
from components.core.contracts import CANARIES, read_table
from components.reward.canaries.counting import alarm_of
from components.reward.canaries.sighting import Sighting


def read_canaries(path: Path) -> list[Canary]:
    """Counts by step and key, in the order of steps.

    Args:
        path: a table of the CANARIES contract.

    Raises:
        ContractError: it breaks its contract.
    """
    return count_canaries([Sighting(**row) for row in read_table(path, CANARIES).to_pylist()])


def count_canaries(sightings: Sequence[Sighting]) -> list[Canary]:
    """The same from what was seen."""
    rows: dict[tuple[int, str], list[Sighting]] = {}
    for sighting in sightings:
        rows.setdefault((sighting.step, sighting.key), []).append(sighting)
    return [
        Canary(
            step=step,
            key=key,
            judged=sum(each.rewarded is not None for each in group),
            accepted=sum(each.rewarded is True for each in group),
            unknown=sum(each.rewarded is None for each in group),
        )
        for (step, key), group in sorted(rows.items(), key=lambda pair: pair[0][0])
    ]


def alarm(canaries: Sequence[Canary]) -> str | None:
    """A sentence to wake somebody with where any canary was rewarded; None where none was, or none is known."""
    rewarded = [row for row in canaries if row.accepted]
    return alarm_of(
        sum(row.accepted for row in rewarded),
        sum(row.judged for row in canaries),
        [row.step for row in rewarded],
        [row.key for row in rewarded],
    )
