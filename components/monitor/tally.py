"""Counts over responses."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from components.monitor.samples import TERMS, Sample
from components.workflow.run.execution import Status

ALL = "all"
_MOST_PARTS = 8
"""Parts that fit into a line; a rubric may have one a criterion."""


@dataclasses.dataclass(frozen=True, slots=True)
class Costs:
    """What the executor model was made to do; of every response, with or without an answer.

    Attributes:
        workflows: that were executed, to whatever end.
        right: right answers among them.
        calls: of operators.
        tokens: read and written.
        seconds: at work.
        money: None where one of them has no price.
    """

    workflows: int
    right: int
    calls: int
    tokens: int
    seconds: float
    money: float | None

    def each(self, amount: float | None) -> float | None:
        """An amount by executed workflow; None where there was none."""
        return None if amount is None or not self.workflows else amount / self.workflows

    def per_right(self, amount: float | None) -> float | None:
        """An amount by right answer, what was spent on other responses included; None where there is none."""
        return None if amount is None or not self.right else amount / self.right


@dataclasses.dataclass(frozen=True, slots=True)
class Tally:
    """Responses, counted.

    Attributes:
        responses: all.
        prompts: different ones of them.
        groups: responses of one step to one prompt.
        varied: groups with at least two known rewards that differ: only these train anything.
        abstained: responses without a reward.
        cut: those that ended at the limit.
        reward: mean of the known rewards; None where there is none.
        valid: workflows that kept the contract.
        checked: responses of which that is known.
        right: right answers.
        scored: responses with a reward, of which it is known whether they are right.
        costs: of workflows.
    """

    responses: int
    prompts: int
    groups: int
    varied: int
    abstained: int
    cut: int
    reward: float | None
    valid: int
    checked: int
    right: int
    scored: int
    costs: Costs


def tally(samples: Sequence[Sample]) -> Tally:
    """Count responses; those of no workflow run have nothing valid, right or spent."""
    groups: dict[tuple[int, str], set[float]] = {}
    for sample in samples:
        known = groups.setdefault((sample.step, sample.row_id), set())
        if sample.reward is not None:
            known.add(sample.reward)
    rewards = [sample.reward for sample in samples if sample.reward is not None]
    valid = [sample.valid for sample in samples if sample.valid is not None]
    right = [sample.right for sample in samples if sample.right is not None]
    return Tally(
        responses=len(samples),
        prompts=len({sample.row_id for sample in samples}),
        groups=len(groups),
        varied=sum(len(known) > 1 for known in groups.values()),
        abstained=len(samples) - len(rewards),
        cut=sum(not sample.finished for sample in samples),
        reward=math.fsum(rewards) / len(rewards) if rewards else None,
        valid=int(sum(valid)),
        checked=len(valid),
        right=int(sum(right)),
        scored=len(right),
        costs=costs(samples),
    )


def costs(samples: Iterable[Sample]) -> Costs:
    """What the responses cost."""
    found = [(sample, sample.outcome) for sample in samples if sample.outcome is not None]
    # What was never executed cost nothing, and has no price.
    spent = [outcome for _, outcome in found if outcome.status is not Status.INVALID and (outcome.calls or outcome.ran)]
    prices = [outcome.money for outcome in spent]
    known = [price for price in prices if price is not None]
    return Costs(
        workflows=len(spent),
        right=sum(sample.right == 1.0 for sample, _ in found),
        calls=sum(outcome.calls for outcome in spent),
        tokens=sum(outcome.tokens for outcome in spent),
        seconds=math.fsum(outcome.seconds for outcome in spent),
        money=math.fsum(known) if known and len(known) == len(prices) else None,
    )


def reasons(samples: Iterable[Sample]) -> Counter[str]:
    """Why responses got the lowest reward, or none: ``invalid:...``, ``failed:...``, ``abstained:...``."""
    found: Counter[str] = Counter()
    for sample in samples:
        if (why := reason(sample)) is not None:
            found[why] += 1
    return found


def reason(sample: Sample) -> str | None:
    """That of one response; None of one that was scored by its answer."""
    if sample.reward is None:
        own = None if sample.outcome is None else sample.outcome.reason
        return f"abstained:{own or sample.reason or 'no reason given'}"
    return None if sample.outcome is None else sample.outcome.why


def mean_parts(samples: Sequence[Sample]) -> dict[str, float]:
    """Means of the reward's parts: of workflows over the answers that were scored, elsewhere over known rewards.

    Empty where there is none, or where they are too many for a line.
    """
    scored = [sample for sample in samples if sample.reward is not None]
    if any(sample.outcome is not None for sample in scored):
        answers = [sample for sample in scored if TERMS[0] in sample.parts]
        return {term: _mean(answers, term) for term in TERMS if any(term in sample.parts for sample in answers)}
    names = sorted({name for sample in scored for name in sample.parts})
    return {name: _mean(scored, name) for name in names} if len(names) <= _MOST_PARTS else {}


def _mean(samples: Sequence[Sample], name: str) -> float:
    values = [sample.parts[name] for sample in samples if name in sample.parts]
    return math.fsum(values) / len(values)


def by_domain(samples: Sequence[Sample], domains: Sequence[str]) -> dict[str, list[Sample]]:
    """``all``, and each domain."""
    return {ALL: list(samples)} | {name: [each for each in samples if each.domain == name] for name in domains}
