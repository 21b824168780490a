"""What the judge made of responses without content while it trained the policy."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.clusters import Mean, clustered_mean
from components.core.contracts import CALLS, CANARIES, read_table
from components.judge.canary import is_canary
from components.reward.canaries.counting import alarm
from components.reward.canaries.names import TABLE
from components.reward.canaries.sighting import Sighting

if TYPE_CHECKING:
    from components.core.spec import Experiment


@dataclasses.dataclass(frozen=True, slots=True)
class KeyRow:
    """Canaries of one text, or of all.

    Attributes:
        sent: judged.
        rewarded: of these, with a reward above the threshold.
        unknown: of these, without a known reward.
        reward: mean of the known rewards; its clusters are prompts.
        first: first step at which one was rewarded; None where none was.
    """

    sent: int
    rewarded: int
    unknown: int
    reward: Mean
    first: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class CanaryFindings:
    """Canaries of a training.

    Attributes:
        total: all of them.
        keys: text -> those of that text, in the order in which they were first sent.
        threshold: the largest reward that is no alarm.
        reasons: why rewards are unknown -> how many.
        calls: questions about canaries among the training's calls.
        alarm: a sentence where one was rewarded, else None.
    """

    total: KeyRow
    keys: Mapping[str, KeyRow]
    threshold: float
    reasons: Mapping[str, int]
    calls: int
    alarm: str | None


def read_canaries(experiment: "Experiment", training: Path) -> CanaryFindings | None:
    """From what the training published; None for an experiment without canaries.

    Raises:
        ContractError: a table is missing or breaks its contract.
    """
    spec = experiment.training.canaries
    if spec is None:
        return None
    sightings = [Sighting(**row) for row in read_table(training / TABLE, CANARIES).to_pylist()]
    names = read_table(training / "calls.parquet", CALLS).column("sample_id").to_pylist()
    reasons: dict[str, int] = {}
    for each in sightings:
        if each.reason is not None:
            reasons[each.reason] = reasons.get(each.reason, 0) + 1
    return CanaryFindings(
        total=_row(sightings),
        keys={
            key: _row([each for each in sightings if each.key == key])
            for key in dict.fromkeys(each.key for each in sightings)
        },
        threshold=spec.threshold(experiment.reward),
        reasons=dict(sorted(reasons.items())),
        calls=sum(is_canary(name) for name in names),
        alarm=alarm(sightings),
    )


def _row(sightings: Sequence[Sighting]) -> KeyRow:
    return KeyRow(
        sent=len(sightings),
        rewarded=sum(each.rewarded is True for each in sightings),
        unknown=sum(each.reward is None for each in sightings),
        reward=clustered_mean([each.reward for each in sightings], [each.row_id for each in sightings]),
        first=min((each.step for each in sightings if each.rewarded), default=None),
    )
