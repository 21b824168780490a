"""The figures' data: what is drawn, and what the reader downloads, from one and the same rows."""

import dataclasses
from collections.abc import Sequence

from components.drawing.figure import Cell, Figure
from components.report import format as fmt
from components.report.heldout import KINDS, MEASURES, HeldOut, Unit
from components.report.training import SERIES, TIMINGS, Training

PART_LABELS = {
    "gold": "Passes gold",
    "echo": "Echoes the criterion",
    "neither": "Neither",
    "gold_unknown": "Gold unknown",
}


JUDGES_REWARD = "Judge's reward"


def build_figures(heldout: HeldOut, training: Training, trained_by: str = JUDGES_REWARD) -> list[Figure]:
    """All figures in the order of the report; those without any data are left out.

    Args:
        heldout: the comparisons.
        training: the steps.
        trained_by: what the reward while training is called.
    """
    figures = [
        levels(heldout),
        gains(heldout),
        parts(heldout),
        proxy_and_gold(training, checked="gold" not in heldout.unchecked, trained_by=trained_by),
        echo_and_length(training, checked="echo" not in heldout.unchecked),
        step_times(training),
    ]
    return [figure for figure in figures if figure.rows]


def levels(heldout: HeldOut) -> Figure:
    """Shares and the judge's reward before and after, each with its own interval."""
    rows: list[tuple[Cell, ...]] = []
    said = []
    for measure in MEASURES:
        found = heldout.measures[measure.key]
        if measure.unit is Unit.WORDS or found.n == 0:
            continue
        before, after = found.base_interval or (None, None), found.trained_interval or (None, None)
        rows.append((measure.key, measure.label, found.base, *before, found.trained, *after, found.n))
        ends = fmt.level(found.base, measure.unit), fmt.level(found.trained, measure.unit)
        said.append(f"{measure.label}: {ends[0]} before, {ends[1]} after")
    return Figure(
        "heldout_levels",
        "Held-out prompts before and after training",
        "Mean over prompts with its bootstrap interval. All but the judge's are shares of answers; the "
        "judge's reward runs from 0 to 1 as well.",
        ". ".join(said),
        ("measure", "label", "base", "base_low", "base_high", "trained", "trained_low", "trained_high", "prompts"),
        tuple(rows),
    )


def gains(heldout: HeldOut) -> Figure:
    """Paired differences with their intervals."""
    rows: list[tuple[Cell, ...]] = []
    said = []
    for measure in MEASURES:
        found = heldout.measures[measure.key]
        if measure.unit is Unit.WORDS or found.n == 0:
            continue
        rows.append((measure.key, measure.label, found.gain, found.low, found.high, found.n))
        said.append(f"{measure.label}: {fmt.change(found.gain, measure.unit)}{fmt.noun(measure.unit)}")
    return Figure(
        "heldout_gains",
        "What changed",
        "Trained less base on the same prompts, with the paired bootstrap interval. Across 0 no change is shown.",
        ". ".join(said),
        ("measure", "label", "gain", "low", "high", "prompts"),
        tuple(rows),
    )


def parts(heldout: HeldOut) -> Figure:
    """On which trained answers the judge's gain was made."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, PART_LABELS[name], part.gain, part.low, part.high, part.samples)
        for name in KINDS
        if (part := heldout.parts[name]).samples
    )
    said = [f"{row[1]}: {fmt.change(heldout.parts[str(row[0])].gain, Unit.REWARD)}" for row in rows]
    return Figure(
        "judge_gain_parts",
        "Where the judge's gain was made",
        "The gain of the judge's reward, shared out over what the trained answers are. The bars add up to the whole.",
        ". ".join(said),
        ("kind", "label", "gain", "low", "high", "answers"),
        rows,
    )


def proxy_and_gold(training: Training, *, checked: bool = True, trained_by: str = JUDGES_REWARD) -> Figure:
    """The reward and, where it was ``checked``, gold by training step."""
    figure = _proxy_and_gold(training, f"{trained_by} (proxy)", checked=checked)
    return dataclasses.replace(figure, names={"proxy": trained_by[0].lower() + trained_by[1:]})


def _proxy_and_gold(training: Training, name: str, *, checked: bool) -> Figure:
    band = "Means over each step's rollouts; the band is one standard error, clustered by prompt."
    if not checked:
        title = f"{name} while training"
        return _by_step(training, ("proxy",), "proxy_gold_by_step", title, f"{band} These prompts have no gold.")
    return _by_step(
        training,
        ("proxy", "gold"),
        "proxy_gold_by_step",
        f"{name} and gold while training",
        f"{band} Where the lines part, the policy learns what is rewarded rather than what is wanted.",
    )


def echo_and_length(training: Training, *, checked: bool = True) -> Figure:
    """Length and, where it was ``checked``, echo by training step."""
    band = "The band is one standard error, clustered by prompt."
    if not checked:
        title = "Length while training"
        return _by_step(training, ("words",), "echo_length_by_step", title, f"Words a rollout. {band}")
    return _by_step(
        training,
        ("echo", "words"),
        "echo_length_by_step",
        "Parroting and length while training",
        f"Above: share of rollouts that echo the criterion. Below: words a rollout. {band}",
    )


def _by_step(training: Training, names: Sequence[str], key: str, title: str, caption: str) -> Figure:
    unknown = set(names) - set(SERIES)
    if unknown:
        raise ValueError(f"no such series: {sorted(unknown)}")
    rows: list[tuple[Cell, ...]] = []
    for row in training.steps:
        means = [row.means[name] for name in names]
        rows.append((row.step, *(cell for mean in means for cell in (mean.mean, mean.error, mean.n))))
    if all(cell is None for row in rows for cell in row[1::3]):
        rows = []
    columns = ("step", *(f"{name}{suffix}" for name in names for suffix in ("", "_error", "_n")))
    return Figure(key, title, caption, _ends(rows, columns), columns, tuple(rows))


def _ends(rows: Sequence[tuple[Cell, ...]], columns: Sequence[str]) -> str:
    if not rows:
        return ""
    said = []
    for column in range(1, len(columns), 3):
        first, last = rows[0][column], rows[-1][column]
        ends = [f"{value:.2f}" if isinstance(value, float) else fmt.UNKNOWN for value in (first, last)]
        said.append(f"{columns[column]}: {ends[0]} at step {rows[0][0]}, {ends[1]} at step {rows[-1][0]}")
    return ". ".join(said)


def step_times(training: Training) -> Figure:
    """Seconds a step, by phase, as far as the trainer recorded them."""
    names = [name for name in TIMINGS if any(name in row.seconds for row in training.steps)]
    rows = tuple((row.step, *(row.seconds.get(name) for name in names)) for row in training.steps if row.seconds)
    total = [row.seconds["step"] for row in training.steps if "step" in row.seconds]
    alt = f"A step takes {fmt.duration(sum(total) / len(total))} on average" if total else "Seconds a step by phase"
    return Figure(
        "step_times",
        "Time a step",
        "Seconds of each phase as the trainer logged them; what the phases leave of the whole step is other work.",
        alt,
        ("step", *(f"{name}_seconds" if name != "step" else "whole_seconds" for name in names)),
        rows,
    )
