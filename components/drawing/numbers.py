"""Numbers as a reader meets them. An unknown number is a word, never a figure."""

UNKNOWN = "unknown"
MINUS = "\u2212"


def signed(text: str) -> str:
    """A formatted number with a true minus sign; a rounded zero has no sign."""
    if not text.strip("+-0."):
        return text.lstrip("+-")
    return text.replace("-", MINUS)


def p_value(p: float | None) -> str:
    """A p value with three places."""
    if p is None:
        return UNKNOWN
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(confidence: float) -> str:
    """The level of an interval, such as ``95 %``."""
    return f"{100 * confidence:g} %"


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
