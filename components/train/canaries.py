"""What a training publishes of its canaries: their rewards and their verdicts, in tables apart from the policy's."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.contracts import CANARIES, VERDICTS, write_table
from components.judge.canary import is_canary
from components.judge.memory.rows import Entry
from components.reward.canaries.log import counted_canaries
from components.reward.canaries.names import TABLE, VERDICTS_TABLE


def publish_canaries(
    log: Path, attempts: Mapping[int, int], entries: Sequence[Entry], out: Path
) -> tuple[list[Entry], dict[str, Any]]:
    """Write :data:`TABLE` and :data:`VERDICTS_TABLE`.

    Args:
        log: the database of rollouts.
        attempts: the step that each attempt resumed from, by its number.
        entries: all verdicts of the ledger.
        out: where to.

    Returns:
        The verdicts about the policy's own responses, and counts for the step's result.
    """
    sightings = counted_canaries(log, attempts)
    write_table(out / TABLE, [dataclasses.asdict(each) for each in sightings], CANARIES)
    theirs = [entry for entry in entries if is_canary(entry.sample_id)]
    write_table(out / VERDICTS_TABLE, [dataclasses.asdict(entry) for entry in theirs], VERDICTS)
    counts = {
        "canaries": len(sightings),
        "canaries_rewarded": sum(each.rewarded is True for each in sightings),
        "canaries_unknown": sum(each.reward is None for each in sightings),
    }
    return [entry for entry in entries if not is_canary(entry.sample_id)], counts
