"""Numbers as a reader meets them. An unknown number is a word, never a figure."""

from components.core.statistics import Comparison
from components.report.heldout import Unit

UNKNOWN = "unknown"
MINUS = "\u2212"


def _signed(text: str) -> str:
    # A rounded zero has no sign.
    if not text.strip("+-0."):
        return text.lstrip("+-")
    return text.replace("-", MINUS)


def level(value: float | None, unit: Unit) -> str:
    """A value of a measure: shares in per cent, rewards with three places, lengths with one."""
    if value is None:
        return UNKNOWN
    if unit is Unit.SHARE:
        return _signed(f"{100 * value:.1f}") + "\u00a0%"
    return _signed(f"{value:.3f}" if unit is Unit.REWARD else f"{value:.1f}")


def change(value: float | None, unit: Unit) -> str:
    """A signed difference; of shares in percentage points, without the word."""
    if value is None:
        return UNKNOWN
    if unit is Unit.SHARE:
        return _signed(f"{100 * value:+.1f}")
    return _signed(f"{value:+.3f}" if unit is Unit.REWARD else f"{value:+.1f}")


def noun(unit: Unit) -> str:
    """What a change is counted in."""
    return {Unit.SHARE: " points", Unit.REWARD: "", Unit.WORDS: " words"}[unit]


def interval(low: float | None, high: float | None, unit: Unit) -> str:
    """An interval of a difference, or a word where there is none."""
    if low is None or high is None:
        return "no interval"
    return f"{change(low, unit)} to {change(high, unit)}"


def p_value(p: float | None) -> str:
    """A p value with three places."""
    if p is None:
        return UNKNOWN
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(confidence: float) -> str:
    """The level of an interval, such as ``95 %``."""
    return f"{100 * confidence:g} %"


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


def duration(seconds: float | None) -> str:
    """Seconds as a reader says them."""
    if seconds is None:
        return "not recorded"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def count(number: int | float) -> str:
    """A whole number with thin gaps between thousands."""
    return f"{number:,.0f}".replace(",", "\u202f")
