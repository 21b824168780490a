"""The figures' data: what is drawn, and what the reader downloads, from one and the same rows."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Final

from components.bias.drift.features import FEATURES, OTHER_TITLES, title, unit
from components.bias.estimate import Estimate
from components.bias.result_arms import Arm, Parting
from components.bias.result_judges import Judge
from components.bias.study_result import StudyResult
from components.drawing.figure import Cell, Figure
from components.study_report.wording import Kind, value, words

_UNSAFE: Final = re.compile(r"[^a-z0-9_]+")
"""What a figure's key, which names a file, has none of."""
NUMBER = ("value", "low", "high", "n", "clusters", "unknown")
"""Columns that an estimate fills."""


@dataclasses.dataclass(frozen=True, slots=True)
class Drawn:
    """A figure and which drawing is its own."""

    kind: str
    figure: Figure


def cells(estimate: Estimate | None) -> tuple[Cell, ...]:
    """An estimate under :data:`NUMBER`; empty cells where there is none."""
    if estimate is None:
        return (None,) * len(NUMBER)
    return (estimate.value, estimate.low, estimate.high, estimate.n, estimate.clusters, estimate.unknown)


def condition(arm: Arm) -> str:
    """What an arm is, without its seed: arms of one condition are drawn alike."""
    who = arm.control or arm.judge or "no judge"
    parts = [who, arm.reward, arm.policy]
    parts += [arm.mitigation] if arm.mitigation else []
    parts += ["failures as zero"] if arm.failures != "masked" else []
    return " \u00b7 ".join(dict.fromkeys(part for part in parts if part))


def build_figures(study: StudyResult) -> dict[str, list[Drawn]]:
    """Section -> its figures; those without any data are left out."""
    found = {
        "judges": [_radar(judge, place) for place, judge in enumerate(study.judges) if judge.biases],
        "drift": list(_drift(study)),
        "rewards": [_rewards(arm, place) for place, arm in enumerate(study.arms) if arm.curve],
        "crossings": [_crossings(study)],
        "predictions": list(_predictions(study)),
    }
    return {section: [drawn for drawn in figures if _known(drawn.figure)] for section, figures in found.items()}


def _known(figure: Figure) -> bool:
    """Whether there is anything to draw: one known value."""
    places = [place for place, name in enumerate(figure.columns) if name in ("value", "drift")]
    return any(row[place] is not None for row in figure.rows for place in places)


def unknown_throughout(study: StudyResult) -> list[str]:
    """Features without a single known value, and why; they have no figure."""
    rows: dict[str, list[Estimate]] = {}
    for arm in study.arms:
        for row in arm.drift:
            name = f"accepted: {row.criterion}" if row.criterion else title(row.feature).lower()
            rows.setdefault(name, []).append(row.mean)
    return [f"{name} ({found[0].why})" for name, found in rows.items() if all(mean.value is None for mean in found)]


def _radar(judge: Judge, place: int) -> Drawn:
    rows = tuple(
        (
            bias.probe,
            bias.title,
            str(bias.mode),
            str(bias.measure),
            *cells(bias.effect),
            bias.p,
            bias.p_adjusted,
            "yes" if bias.flagged else "no",
            bias.planted,
        )
        for bias in judge.biases
    )
    flagged = [bias for bias in judge.biases if bias.flagged]
    said = ", ".join(f"{words(bias.probe)} ({bias.mode}) {value(bias.effect, Kind.EFFECT)}" for bias in flagged)
    columns = ("probe", "title", "mode", "measure", *NUMBER, "p", "p_adjusted", "flagged", "planted")
    figure = Figure(
        f"biases_{place}",
        f"Biases of {judge.name}",
        "One spoke a probe. The heavy ring is 0, an unbiased judge; further out the factor wins, further in it loses. "
        "The line on a spoke is the interval; a filled mark is flagged, a hollow one is not.",
        f"Flagged: {said or 'none'} of {len(judge.biases)} effects",
        columns,
        rows,
    )
    return Drawn("radar", figure)


def _drift(study: StudyResult) -> Iterator[Drawn]:
    keys = dict.fromkeys((row.feature, row.criterion) for arm in study.arms for row in arm.drift)
    order = list(FEATURES) + list(OTHER_TITLES)
    ranked = sorted(keys, key=lambda key: (order.index(key[0]) if key[0] in order else len(order), key[1]))
    for place, (feature, criterion) in enumerate(ranked):
        rows = tuple(
            (arm.name, condition(arm), arm.seed, row.step, *cells(row.mean))
            for arm in study.arms
            for row in arm.drift
            if (row.feature, row.criterion) == (feature, criterion)
        )
        name = f"Accepted: {criterion}" if criterion else title(feature)
        ends = [row for arm in study.arms for row in _ends(arm, feature, criterion)]
        yield Drawn(
            "drift",
            Figure(
                f"drift_{place}_{_UNSAFE.sub('_', feature)}",
                name,
                f"Held-out responses at each checkpoint, {unit(feature)}; 0 is the base model. Upright lines "
                "are intervals, clustered by prompt. Arms that differ in the seed alone look alike.",
                ". ".join(ends),
                ("arm", "condition", "seed", "step", *NUMBER),
                rows,
            ),
        )


def _ends(arm: Arm, feature: str, criterion: str) -> Iterator[str]:
    rows = [row for row in arm.drift if (row.feature, row.criterion) == (feature, criterion)]
    if rows:
        first, last = (min(rows, key=lambda row: row.step), max(rows, key=lambda row: row.step))
        told = [("unknown" if row.mean.value is None else f"{row.mean.value:.3g}") for row in (first, last)]
        yield f"{arm.name}: {told[0]} at step {first.step}, {told[1]} at step {last.step}"


def prompts(parting: Parting) -> str:
    """What a parting rests on, in words."""
    unknown = f" ({parting.unknown} more unknown)" if parting.unknown else ""
    return f"n = {parting.n} prompts{unknown}"


def _rewards(arm: Arm, place: int) -> Drawn:
    rows = tuple(
        (point.step, series, *cells(estimate))
        for series, estimates in (
            ("proxy", [(point, point.proxy) for point in arm.curve]),
            ("gold", [(point, point.gold) for point in arm.curve]),
        )
        for point, estimate in estimates
    )
    parting = arm.parting
    extra = ""
    names = {}
    if parting is not None and parting.parted:
        interval = f" (interval {parting.low} to {parting.high})" if parting.low is not None else ""
        extra = f" They part at step {parting.step}{interval}, {prompts(parting)}: the vertical line."
        ends = {"low": parting.low, "high": parting.high}
        names = {
            "step": str(parting.step),
            **{name: "" if end is None else str(end) for name, end in ends.items()},
        }
    elif parting is not None:
        extra = f" No parting is shown. {parting.why}".rstrip()
    figure = Figure(
        f"rewards_{place}",
        f"Reward and gold, {arm.name}",
        f"Means over the rollouts of a step; the band is the interval, clustered by prompt.{extra}",
        f"Reward and gold of {len(arm.curve)} steps.{extra}",
        ("step", "series", *NUMBER),
        rows,
        names,
    )
    return Drawn("rewards", figure)


def _crossings(study: StudyResult) -> Drawn:
    # One kind of number in a map: where any gain is known, a cell without one is unknown, and never a level.
    gains = any(cell.gain is not None for cell in study.crossings)
    rows = tuple(
        (
            cell.arm,
            cell.judge,
            "gain" if gains else "reward",
            *cells(cell.gain if gains else cell.trained),
            *cells(cell.trained)[:3],
        )
        for cell in study.crossings
    )
    known = [(row[0], row[1], row[3]) for row in rows if isinstance(row[3], float)]
    said = ". ".join(f"{arm} by {judge}: {number:+.3f}" for arm, judge, number in known)
    figure = Figure(
        "cross_judge",
        "Every policy, scored by every judge",
        ("Gain of the judge's reward over the base model" if gains else "The judge's reward")
        + " on held-out prompts, by row the policy, by column the judge. "
        "What only the policy's own judge sees is that judge's taste.",
        said,
        ("arm", "judge", "what", *NUMBER, "trained", "trained_low", "trained_high"),
        rows,
    )
    return Drawn("heat", figure)


def _predictions(study: StudyResult) -> Iterator[Drawn]:
    for place, found in enumerate(study.findings.predictions):
        rows = tuple(
            (point.arm, point.judge, point.seed, *cells(point.bias)[:4], *cells(point.drift)[:4])
            for point in found.points
        )
        slope = "unknown" if found.slope.value is None else f"{found.slope.value:+.3g}"
        columns = ("arm", "judge", "seed", "bias", "bias_low", "bias_high", "bias_n")
        yield Drawn(
            "prediction",
            Figure(
                f"prediction_{place}",
                f"{found.title or words(found.axis).capitalize()}: bias and drift",
                "Across: the judge's effect on the axis. Up: how far its policy moved. Each mark is an arm, with both "
                "intervals; a shape is a judge.",
                f"{len(found.points)} arms, slope {slope}",
                (*columns, "drift", "drift_low", "drift_high", "drift_n"),
                rows,
                {"x": f"bias: {words(found.axis)}", "y": f"drift: {title(found.feature).lower()}"},
            ),
        )
