"""What remedies take off the policies' drift: runs of the same reward, policy and seed, with and without the remedy."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from components.bias.drift.features import PREDICTED, title
from components.bias.estimate import Estimate
from components.bias.findings.remedies import Pair
from components.bias.result_arms import Arm
from components.bias.result_findings import Mitigation
from components.collect_study.probed import Probed
from components.collect_study.remedied import of_pairs

DRIFTS: Final = tuple(dict.fromkeys(PREDICTED.values()))
"""Features whose drift remedies are held against."""
Run = tuple[str, str, int]
"""Reward, policy and seed."""


def _runs(arms: Sequence[Arm], failures: str) -> dict[str, dict[Run, Arm]]:
    """Judge -> its arms of the matrix, or their twins that count failures as zero."""
    found: dict[str, dict[Run, Arm]] = defaultdict(dict)
    for arm in arms:
        if arm.judge is not None and arm.control in ("", "zero_as_control") and arm.failures == failures:
            found[arm.judge][arm.reward, arm.policy, arm.seed] = arm
    return found


def masking(arms: Sequence[Arm], confidence: float) -> Iterator[Mitigation]:
    """Policies trained with failures counted as zero, against their masked twins."""
    masked = _runs(arms, "masked")
    for judge, zero in _runs(arms, "zero_as_control").items():
        both = [(arm, masked[judge][run]) for run, arm in zero.items() if run in masked.get(judge, {})]
        what = "drift with failures counted as zero, against drift with failures masked"
        yield from _drift("masking", judge, what, both, confidence)


def panel_drifts(probed: Sequence[Probed], arms: Sequence[Arm], confidence: float) -> Iterator[Mitigation]:
    """Policies of a member's model alone, against those of the panel."""
    by_name, runs = {judge.name: judge for judge in probed}, _runs(arms, "masked")
    for panel in (judge for judge in probed if judge.members):
        models = {by_name[name].model for name in panel.members}
        for alone in probed:
            if alone.member or alone.members or alone.model not in models:
                continue
            mine, theirs = runs.get(alone.name, {}), runs.get(panel.name, {})
            both = [(arm, theirs[run]) for run, arm in mine.items() if run in theirs]
            what = f"drift of policies that {alone.name} trained alone, against those of the panel"
            yield from _drift("panel", panel.name, what, both, confidence)


def _drift(
    name: str, judge: str, what: str, both: Sequence[tuple[Arm, Arm]], confidence: float
) -> Iterator[Mitigation]:
    for feature in DRIFTS:
        pairs: list[Pair | None] = []
        for one, other in both:
            changes = [_change(arm, feature) for arm in (one, other)]
            if changes[0] is None or changes[1] is None:
                continue
            before, after = changes[0].value, changes[1].value
            pairs.append(None if before is None or after is None else (before, after, str(one.seed)))
        widest = max((abs(value) for pair in pairs if pair is not None for value in pair[:2]), default=1.0) or 1.0
        told = f"{what}: {title(feature).lower()}"
        yield from of_pairs(name, feature, judge, told, pairs, (-widest, widest), confidence, drift=True)


def _change(arm: Arm, feature: str) -> Estimate | None:
    """None where the feature was not read at all."""
    return next((each.change for each in arm.changes if each.feature == feature), None)
