"""What the reward's mean while training mixes: prompts with and without a scaffold, and VerIF's two factors."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from components.core.clusters import Mean, clustered_mean
from components.report.evidence import Rollout


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One number over the rollouts that it is of.

    Attributes:
        rollouts: rollouts that it is of, also those without a reward.
        total: mean over all steps.
        first: mean over the first quarter of the steps.
        last: mean over the last quarter.
    """

    rollouts: int
    total: Mean
    first: Mean
    last: Mean


@dataclasses.dataclass(frozen=True, slots=True)
class _Kind:
    """Which rollouts a part is of, and its number for one of them; None is unknown."""

    of: Callable[[Rollout], bool]
    value: Callable[[Rollout], float | None]


def _shown(rollout: Rollout) -> float | None:
    return rollout.parts.get("scaffold_shown")


KINDS: Final[Mapping[str, _Kind]] = {
    # By what was shown: the schedule's share is hardly ever exactly 0, and too small a share shows nothing.
    "reward_plain": _Kind(lambda rollout: _shown(rollout) == 0, lambda rollout: rollout.reward),
    "reward_scaffolded": _Kind(lambda rollout: (_shown(rollout) or 0) > 0, lambda rollout: rollout.reward),
    # A prompt without such lines has the factor 1 by definition, which says nothing of the policy.
    "factor_rules": _Kind(lambda rollout: rollout.parts.get("rule_lines", 0) > 0, lambda r: r.parts.get("rules")),
    "factor_judge": _Kind(lambda rollout: rollout.parts.get("llm_lines", 0) > 0, lambda r: r.parts.get("judge")),
}

LABELS: Final[Mapping[str, str]] = {
    "reward_plain": "Reward, prompts that carried no criterion",
    "reward_scaffolded": "Reward, prompts that carried some of their criteria",
    "factor_rules": "Rules: mean of the rule checks (prompts with rule lines)",
    "factor_judge": "Judge: its factor (prompts with lines for the judge)",
}
"""Names in words, in the order of :data:`KINDS`."""


def split_rewards(by_step: Mapping[int, Sequence[Rollout]], quarter: int) -> dict[str, Part]:
    """The parts that the run has.

    Args:
        by_step: step -> its rollouts.
        quarter: steps at each end; 0 for none.
    """
    steps = sorted(by_step)
    ends = steps[:quarter], steps[len(steps) - quarter :]
    found = {}
    for name, kind in KINDS.items():
        first, last = ([r for step in end for r in by_step[step] if kind.of(r)] for end in ends)
        every = [r for step in steps for r in by_step[step] if kind.of(r)]
        if every:
            found[name] = Part(len(every), _mean(every, kind), _mean(first, kind), _mean(last, kind))
    return found


def _mean(rollouts: Sequence[Rollout], kind: _Kind) -> Mean:
    return clustered_mean([kind.value(rollout) for rollout in rollouts], [rollout.row_id for rollout in rollouts])
