"""The live view of a run as lines of text."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from components.core.progress import clock_text
from components.monitor.samples import Sample, domains_of
from components.monitor.snapshot import Snapshot
from components.monitor.status import Kind
from components.monitor.tally import Tally, by_domain, mean_parts, reasons, tally
from components.monitor.text import UNKNOWN, columns, money, number, share
from components.reward.canaries.counting import told_overall

LAST: Final = 5
"""Steps that are shown one by one."""
_MOST_REASONS: Final = 8
_TIMES: Final[Mapping[str, str]] = {
    "generate": "timing_s/gen",
    "reward": "timing_s/reward",
    "update": "timing_s/update_actor",
}
"""Word -> verl's metric."""
_STEP: Final = "timing_s/step"


def draw(snapshot: Snapshot, *, last: int = LAST) -> str:
    """The view.

    Args:
        snapshot: what is known.
        last: steps that are shown one by one, and summed up by domain.
    """
    lines = _head(snapshot)
    samples = snapshot.samples
    if not samples:
        return "\n".join([*lines, "no response yet"])
    workflow = any(sample.outcome is not None for sample in samples)
    steps = sorted({sample.step for sample in samples})
    shown = steps[-last:]
    recent = [sample for sample in samples if sample.step in set(shown)]
    lines += ["", *_domains(recent, _span(shown), workflow=workflow)]
    lines += ["", *_steps(samples, shown, snapshot, workflow=workflow)]
    lines += ["", *_totals(samples, snapshot, workflow=workflow)]
    if parts := mean_parts(recent):
        over = "scored answers" if workflow else "rewarded responses"
        told = ", ".join(f"{name} {value:+.3f}" for name, value in parts.items())
        lines.append(f"reward parts, {over} of {_span(shown)}: {told}")
    if found := reasons(recent):
        told = ", ".join(f"{name} {count}" for name, count in found.most_common(_MOST_REASONS))
        more = f", {len(found) - _MOST_REASONS} more" if len(found) > _MOST_REASONS else ""
        lines.append(f"without a scored answer: {told}{more}")
    if canaries := told_overall(snapshot.metrics):
        lines.append(canaries)
    lines += _buffer(snapshot) + _time(snapshot, shown)
    return "\n".join(lines)


def _head(snapshot: Snapshot) -> list[str]:
    stand, facts = snapshot.stand, snapshot.facts
    counts = stand.step and stand.kind is not Kind.PREPARING
    step = f", step {stand.step}" + (f" of {facts.steps}" if facts.steps else "") if counts else ""
    word = "paused for its judge" if stand.kind is Kind.PAUSED else str(stand.kind)
    lines = [f"{facts.name}: {word}{step}" + (f": {stand.detail}" if stand.detail else ""), snapshot.where]
    if snapshot.as_of is not None and snapshot.as_of < stand.step:
        lines.append(
            f"figures as of the checkpoint of step {snapshot.as_of}, the newest in the store"
            if snapshot.as_of
            else "figures come with the first checkpoint in the store"
        )
    return [*lines, *(f"note: {note}" for note in snapshot.notes)]


def _span(steps: Sequence[int]) -> str:
    return f"step {steps[0]}" if len(steps) == 1 else f"steps {steps[0]} to {steps[-1]}"


def _domains(samples: Sequence[Sample], span: str, *, workflow: bool) -> list[str]:
    header = [
        span,
        "responses",
        *(["right", "valid"] if workflow else []),
        "reward",
        "abstained",
        "cut",
        "groups differ",
    ]
    header += ["calls", "tokens", "seconds", "money"] if workflow else []
    rows = []
    for name, mine in by_domain(samples, domains_of(samples)).items():
        found = tally(mine)
        rows.append([name, str(found.responses), *_measures(found, workflow=workflow), str(found.cut), _differ(found)])
        if workflow:
            spent = found.costs
            rows[-1] += [number(spent.each(spent.calls)), number(spent.each(spent.tokens), 0)]
            rows[-1] += [number(spent.each(spent.seconds)), money(spent.each(spent.money))]
    return columns(header, rows)


def _measures(found: Tally, *, workflow: bool) -> list[str]:
    both = [share(found.right, found.scored), share(found.valid, found.checked)] if workflow else []
    return [*both, number(found.reward, 3), str(found.abstained)]


def _differ(found: Tally) -> str:
    return f"{found.varied} of {found.groups}"


def _steps(samples: Sequence[Sample], shown: Sequence[int], snapshot: Snapshot, *, workflow: bool) -> list[str]:
    header = ["step", "responses", *(["right", "valid"] if workflow else []), "reward", "abstained", "time"]
    rows = []
    for step in shown:
        mine = [sample for sample in samples if sample.step == step]
        seconds = snapshot.metrics.get(step, {}).get(_STEP)
        time = UNKNOWN if seconds is None else clock_text(seconds)
        if step not in snapshot.metrics:
            time = "not finished" if snapshot.stand.over else "under way"
        # Of groups that are replaced there are more responses than a step has.
        whole = snapshot.facts.samples_per_step
        partly = f"{len(mine)} of {whole}" if whole is not None and len(mine) < whole else str(len(mine))
        rows.append([str(step), partly, *_measures(tally(mine), workflow=workflow), time])
    return columns(header, rows)


def _totals(samples: Sequence[Sample], snapshot: Snapshot, *, workflow: bool) -> list[str]:
    found, spent = tally(samples), tally(samples).costs
    told = f"since step 1: {found.responses} responses, reward {number(found.reward, 3)}, {found.abstained} abstained"
    if not workflow:
        return [told]
    told += f", right {share(found.right, found.scored)}, valid {share(found.valid, found.checked)}"
    cost = f"cost of the executor: {spent.calls} calls of operators, {spent.tokens} tokens, {number(spent.seconds)} s"
    if spent.workflows:
        cost += f", money {money(spent.money)}" if spent.money is not None else ", no price"
    if spent.right:
        cost += f"; per right answer {number(spent.per_right(spent.tokens), 0)} tokens"
    return [told, cost]


def _buffer(snapshot: Snapshot) -> list[str]:
    if snapshot.buffer is None:
        return []
    most = f" of {snapshot.facts.capacity}" if snapshot.facts.capacity else ""
    names = list(dict.fromkeys([*domains_of(snapshot.samples), *snapshot.buffer]))
    told = ", ".join(f"{name} {snapshot.buffer.get(name, 0)}{most}" for name in names)
    return [f"experience buffer: {told or 'empty'}"]


def _time(snapshot: Snapshot, shown: Sequence[int]) -> list[str]:
    rows = [snapshot.metrics[step] for step in shown if step in snapshot.metrics]
    whole = [row[_STEP] for row in rows if _STEP in row]
    if not whole:
        return []
    told = []
    for name, metric in _TIMES.items():
        known = [row[metric] for row in rows if metric in row]
        if known:
            told.append(f"{name} {sum(known) / len(known):.1f} s")
    mean = sum(whole) / len(whole)
    line = f"a step takes {clock_text(mean)}" + (f" ({', '.join(told)})" if told else "")
    steps = snapshot.facts.steps
    if steps and snapshot.stand.kind in (Kind.TRAINING, Kind.PAUSED):
        line += f"; about {clock_text(mean * (steps - max(snapshot.metrics)))} left"
    return [line]


def separator(moment: datetime) -> str:
    """The line between two views in a pipe."""
    return f"--- {moment:%Y-%m-%d %H:%M:%S} ---"
