"""What a training's logs tell, by domain and step range, with intervals over prompts."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

from components.monitor.estimate import SAMPLING, Estimate, Value, estimate
from components.monitor.samples import Sample, domains_of
from components.monitor.section import Cell, Measure, Section
from components.monitor.tally import by_domain, reason, tally
from components.tasks.statistics import Sampling

NONE_CALLED = "(none)"


Scale = tuple[float, float] | None


def analyse(
    samples: Sequence[Sample], *, ranges: int = 4, scale: Scale = None, sampling: Sampling = SAMPLING
) -> list[Section]:
    """All tables.

    Args:
        samples: responses of the steps that are looked at.
        ranges: that the steps are divided into.
        scale: least and largest reward; None where that is not known.
        sampling: of intervals.
    """
    workflow = any(sample.outcome is not None for sample in samples)
    domains = domains_of(samples)
    measures = _Measures(workflow, scale, sampling)
    found = [
        _overview(samples, domains, measures),
        _ranges(samples, domains, ranges, measures),
        _reasons(samples, domains, sampling),
    ]
    return [*found, _operators(samples, domains, sampling), _costs(samples, domains)] if workflow else found


@dataclasses.dataclass(frozen=True, slots=True)
class _Measures:
    """What is measured of responses."""

    workflow: bool
    scale: Scale
    sampling: Sampling

    @property
    def names(self) -> tuple[str, ...]:
        return ("right", "valid", "reward") if self.workflow else ("reward",)

    def of(self, samples: Sequence[Sample]) -> list[Measure]:
        shares: list[Value] = [lambda sample: sample.right, lambda sample: sample.valid] if self.workflow else []
        return [
            *(Measure(estimate(samples, value, self.sampling)) for value in shares),
            Measure(estimate(samples, lambda sample: sample.reward, self.sampling, self.scale), is_share=False),
        ]


def _overview(samples: Sequence[Sample], domains: Sequence[str], measures: _Measures) -> Section:
    rows: list[tuple[Cell | Measure, ...]] = []
    for name, mine in by_domain(samples, domains).items():
        found = tally(mine)
        counts = (found.responses, found.prompts)
        ends = (found.abstained, found.cut, found.groups, found.varied)
        rows.append((name, *counts, *measures.of(mine), *ends))
    note = "Each prompt counts once, by the mean over its responses. What abstained is in no share and no mean."
    if measures.workflow:
        note += " No answer, and no workflow, count as not right."
    return Section(
        "domains",
        f"By domain, with {100 * measures.sampling.confidence:g} % intervals",
        ("domain", "responses", "prompts", *measures.names, "abstained", "cut", "groups", "groups that differ"),
        rows,
        note,
    )


def step_ranges(steps: Sequence[int], parts: int) -> list[list[int]]:
    """Ascending steps in at most so many ranges, whose lengths differ by one at most, longer ones last."""
    parts = max(1, min(parts, len(steps)))
    bounds = [len(steps) * part // parts for part in range(parts + 1)]
    return [list(steps[low:high]) for low, high in itertools.pairwise(bounds)]


def _ranges(samples: Sequence[Sample], domains: Sequence[str], ranges: int, measures: _Measures) -> Section:
    rows: list[tuple[str | int | Measure, ...]] = []
    for steps in step_ranges(sorted({sample.step for sample in samples}), ranges):
        inside = [sample for sample in samples if steps[0] <= sample.step <= steps[-1]]
        label = f"{steps[0]}-{steps[-1]}" if len(steps) > 1 else str(steps[0])
        for name, mine in by_domain(inside, domains).items():
            if mine:
                rows.append((label, name, len(mine), *measures.of(mine), tally(mine).abstained))
    header = ("steps", "domain", "responses", *measures.names, "abstained")
    return Section("ranges", "By steps and domain", header, rows)


def _reasons(samples: Sequence[Sample], domains: Sequence[str], sampling: Sampling) -> Section:
    rows = []
    for name, mine in by_domain(samples, domains).items():
        counted = Counter(found for sample in mine if (found := reason(sample)) is not None)
        for why, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
            rows.append((name, why, count, Measure(_share_of(mine, why, sampling))))
    title = "Why there was no scored answer"
    return Section("reasons", title, ("domain", "reason", "responses", "share of responses"), rows)


def _share_of(samples: Sequence[Sample], why: str, sampling: Sampling) -> Estimate:
    return estimate(samples, lambda sample: float(reason(sample) == why), sampling)


def _operators(samples: Sequence[Sample], domains: Sequence[str], sampling: Sampling) -> Section:
    rows: list[tuple[str | int | float | Measure, ...]] = []
    for name, mine in by_domain(samples, domains).items():
        ran = [sample for sample in mine if sample.outcome is not None and sample.outcome.ran]
        users: dict[str, list[Sample]] = {}
        calls: Counter[str] = Counter()
        for sample in ran:
            called = sample.outcome.operators if sample.outcome is not None else ()
            calls.update(called)
            for operator in set(called) or {NONE_CALLED}:
                users.setdefault(operator, []).append(sample)
        for operator, using in sorted(users.items(), key=lambda item: (-len(item[1]), item[0])):
            used = {sample.sample_id for sample in using}
            share = estimate(ran, lambda sample, used=used: float(sample.sample_id in used), sampling)  # type: ignore[misc]
            right = estimate(using, lambda sample: sample.right, sampling)
            rows.append((name, operator, len(using), Measure(share), calls[operator] / len(using), Measure(right)))
    note = "Of workflows that ran to an end of their own. Which operators go with right answers is no effect of them."
    header = ("domain", "operator", "workflows", "share of workflows", "calls each", "right among them")
    return Section("operators", "Operators called", header, rows, note)


def _costs(samples: Sequence[Sample], domains: Sequence[str]) -> Section:
    rows = []
    for name, mine in by_domain(samples, domains).items():
        spent = tally(mine).costs
        amounts = (spent.calls, spent.tokens, spent.seconds, spent.money)
        each = (spent.each(amount) for amount in amounts)
        rows.append((name, spent.workflows, *each, spent.right, *(spent.per_right(amount) for amount in amounts[1:])))
    header = (
        *("domain", "workflows", "calls each", "tokens each", "seconds each", "money each"),
        *("right", "tokens per right", "seconds per right", "money per right"),
    )
    note = "Per right answer: all that was spent, on workflows without one too. Replies from the cache took no seconds."
    return Section("cost", "Cost of the executor model", header, rows, note)
