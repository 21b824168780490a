"""Estimates as a reader meets them: value, interval and n together, or a word with its reason."""

import enum

from components.bias.drift.features import FEATURES, OTHER_TITLES, Unit, title
from components.bias.drift.features import unit as unit_of
from components.bias.estimate import Estimate
from components.drawing.numbers import UNKNOWN, count, signed


class Kind(enum.StrEnum):
    """How a number is printed."""

    EFFECT = "effect"
    """Signed, three places: a judge's bias or a difference of rewards."""
    LEVEL = "level"
    """Three places: a reward, kappa, alpha."""
    SHARE = "share"
    """Per cent."""
    POINTS = "points"
    """A difference of shares in percentage points, signed."""
    AMOUNT = "amount"
    """One place: words, tokens, a rate."""
    MORE = "more"
    """A difference of amounts, signed."""


def number(value: float, kind: Kind) -> str:
    """A value alone."""
    if kind is Kind.SHARE:
        return signed(f"{100 * value:.1f}") + "\u00a0%"
    if kind is Kind.POINTS:
        return signed(f"{100 * value:+.1f}") + "\u00a0points"
    if kind in (Kind.AMOUNT, Kind.MORE):
        return signed(f"{value:+.1f}" if kind is Kind.MORE else f"{value:.1f}")
    return signed(f"{value:+.3f}" if kind is Kind.EFFECT else f"{value:.3f}")


def value(estimate: Estimate, kind: Kind) -> str:
    """The estimate's value, or a word."""
    return UNKNOWN if estimate.value is None else number(estimate.value, kind)


def basis(estimate: Estimate, kind: Kind) -> list[str]:
    """What stands below a value, a line each: its interval, n with its clusters, and how many are unknown."""
    parts = []
    if estimate.low is not None and estimate.high is not None:
        ends = (number(end, kind).removesuffix("\u00a0points") for end in (estimate.low, estimate.high))
        parts.append(" to ".join(ends))
    else:
        parts.append(estimate.why)
    n = f"n\u00a0=\u00a0{count(estimate.n)}"
    if estimate.clusters is not None and estimate.clusters != estimate.n:
        n += f" in {count(estimate.clusters)}"
    parts.append(n)
    if estimate.unknown:
        parts.append(f"{count(estimate.unknown)} unknown")
    return parts


def sentence(estimate: Estimate, kind: Kind, confidence: float) -> str:
    """Value, interval and n in running text."""
    told = "; ".join(basis(estimate, kind))
    if estimate.value is None:
        return f"{UNKNOWN} ({told})"
    level = f"{100 * confidence:g}\u00a0% interval " if estimate.low is not None else ""
    return f"{value(estimate, kind)} ({level}{told})"


def level_kind(feature: str) -> Kind:
    """How a feature's mean is printed."""
    return {Unit.SHARE: Kind.SHARE, Unit.REWARD: Kind.LEVEL}.get(unit_of(feature), Kind.AMOUNT)


def change_kind(feature: str) -> Kind:
    """How a feature's change is printed."""
    return {Unit.SHARE: Kind.POINTS, Unit.REWARD: Kind.EFFECT}.get(unit_of(feature), Kind.MORE)


def measure(name: str) -> str:
    """A probe or a feature of drift, in words."""
    return f"drift: {title(name).lower()}" if name in FEATURES or name in OTHER_TITLES else words(name)


def words(name: str) -> str:
    """A name with spaces, as in ``self preference``."""
    return name.replace("_", " ")
