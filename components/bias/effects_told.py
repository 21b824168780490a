"""The effects of a run of probes for the terminal, as a study's report has them."""

from collections.abc import Iterable, Mapping
from typing import Final

from components.bias.effects import measure_effects
from components.bias.multiplicity import RATE, Adjusted, adjusted
from components.bias.types import Measure, Outcome

_WIDTHS: Final = (18, 10)
_LEAST_P: Final = 0.001


def told(outcomes: Iterable[Outcome], measures: Mapping[str, Measure]) -> list[str]:
    """A line an effect: value, interval, n with the texts they come from, and p after the correction.

    Args:
        outcomes: of one judge.
        measures: probe -> what it measures.

    Raises:
        ContractError: see :func:`components.bias.effects.measure_effects`.
    """
    lines = [_line(each) for each in adjusted(measure_effects(outcomes, measures))]
    if not lines:
        return []
    head = f"effects, 0 for an unbiased judge; flagged where p after Holm's rule over all of them is at most {RATE:g}:"
    return [head, *lines]


def _line(found: Adjusted) -> str:
    effect, bias = found.effect, found.effect.bias
    head = f"{effect.probe:<{_WIDTHS[0]}}{effect.mode.value:<{_WIDTHS[1]}}"
    texts = "1 text" if bias.texts == 1 else f"{bias.texts} texts"
    known = f"n {bias.items} in {texts}" + (f", {effect.dropped} unknown" if effect.dropped else "")
    if bias.value is None:
        return f"{head}unknown: no item has all the values that it needs ({known})"
    if bias.low is None or bias.high is None:
        return f"{head}{bias.value:+.3f}, no interval: fewer than two texts ({known})"
    interval = f"{100 * bias.confidence:g} % interval {bias.low:+.3f} to {bias.high:+.3f}"
    return f"{head}{bias.value:+.3f} ({interval}; {known}), p {_p(found.holm)}{', flagged' if found.flagged else ''}"


def _p(p: float | None) -> str:
    if p is None:
        return "unknown"
    return "below 0.001" if p < _LEAST_P else f"{p:.3f}"
