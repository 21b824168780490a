"""The report's measures as a reader meets them."""

from components.core.statistics import Comparison
from components.drawing.numbers import MINUS, UNKNOWN, count, duration, p_value, percent, signed
from components.report.heldout import Unit

__all__ = [
    "MINUS",
    "UNKNOWN",
    "change",
    "count",
    "duration",
    "evidence",
    "interval",
    "level",
    "noun",
    "p_value",
    "percent",
]


def level(value: float | None, unit: Unit) -> str:
    """A value of a measure: shares in per cent, rewards with three places, lengths with one."""
    if value is None:
        return UNKNOWN
    if unit is Unit.SHARE:
        return signed(f"{100 * value:.1f}") + "\u00a0%"
    return signed(f"{value:.3f}" if unit is Unit.REWARD else f"{value:.1f}")


def change(value: float | None, unit: Unit) -> str:
    """A signed difference; of shares in percentage points, without the word."""
    if value is None:
        return UNKNOWN
    if unit is Unit.SHARE:
        return signed(f"{100 * value:+.1f}")
    return signed(f"{value:+.3f}" if unit is Unit.REWARD else f"{value:+.1f}")


def noun(unit: Unit) -> str:
    """What a change is counted in."""
    return {Unit.SHARE: " points", Unit.REWARD: "", Unit.WORDS: " words"}[unit]


def interval(low: float | None, high: float | None, unit: Unit) -> str:
    """An interval of a difference, or a word where there is none."""
    if low is None or high is None:
        return "no interval"
    return f"{change(low, unit)} to {change(high, unit)}"


def evidence(comparison: Comparison, unit: Unit) -> str:
    """From, to, gain, interval and n of a comparison in one line."""
    if comparison.gain is None:
        return f"no prompt with a known value on both sides (left out: {comparison.dropped})"
    text = (
        f"{level(comparison.base, unit)} \u2192 {level(comparison.trained, unit)}, "
        f"change {change(comparison.gain, unit)}{noun(unit)}, "
        f"{percent(comparison.confidence)} interval {interval(comparison.low, comparison.high, unit)}, "
        f"n = {comparison.n} prompts"
    )
    return text + (f", {comparison.dropped} left out as unknown" if comparison.dropped else "")
