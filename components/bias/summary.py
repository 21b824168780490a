"""What a run of probes gave, in a few lines for the terminal; :mod:`components.bias.effects_told` has the effects."""

from collections import Counter
from collections.abc import Sequence

from components.bias.types import Outcome, Role


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """A line a probe and mode: mean value a role over the known ones, how many are unknown, and why."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in outcomes:
        groups.setdefault((each.probe, each.mode.value), []).append(each)
    found = []
    for (probe, mode), group in groups.items():
        means = []
        for role in Role:
            known = [each.value for each in group if each.role is role and each.value is not None]
            if known:
                means.append(f"{role.value} {sum(known) / len(known):.3f} (n {len(known)})")
        reasons = Counter(each.reason for each in group if each.reason is not None)
        unknown = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        found.append(f"{probe:<18}{mode:<10}{', '.join(means) or 'nothing known'}; unknown: {unknown or 'none'}")
    return found
