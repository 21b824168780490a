r"""Whether two mathematical answers are the same but for notation, by text and exact arithmetic alone.

Covers MATH's own normaliser (Hendrycks et al. 2021) and, beyond it, thousands separators, mixed numbers, decimals,
percentages, units and tuples of these. What it cannot decide is left to computer algebra. All of it takes time
proportional to the texts' length.
"""

import re
from fractions import Fraction
from typing import Final

LONGEST: Final = 2000
"""Characters of an answer; what is longer is compared as it stands."""

_SPACES: Final = re.compile(r"(?<!\\)\\[,;:! ]|\\q?quad(?![A-Za-z])|~|[\s\u00a0\u2009\u202f]+")
_SIZES: Final = re.compile(
    r"\\(?:left|right)(?![A-Za-z])\.?|\\(?:big|Big|bigg|Bigg)[lr]?(?![A-Za-z])|\\displaystyle(?![A-Za-z])"
)
_DEGREES: Final = re.compile(r"\^\s?\{?\s?\\circ\s?\}?|°|\\degree(?![A-Za-z])")
_TEXT: Final = re.compile(r"\\(?:text|mbox|textbf|textit|textrm|mathrm|mathbf|rm)\s?\{([^{}]*)\}")
_TRAILING_TEXT: Final = re.compile(
    r"(?<=[0-9}%])\s{0,4}(?:\\?[,;! ])?\s{0,4}\\(?:text|mbox|textrm|mathrm)\s?\{[^{}]{0,100}\}"
    r"(?:\s{0,2}\^\s?(?:\{[0-9]\}|[0-9]))?\s{0,4}$"
)
_UNIT: Final = re.compile(
    r"(?<=[0-9}])\s{0,4}\\?(?:square|cubic|sq\.?|cu\.?)?\s{0,4}"
    # A single letter right behind a number is a factor.
    r"(?:(?<=\s)[mg]|degrees?|deg|cm|mm|km|kg|mg|lbs?|oz|ml|centimet(?:er|re)s?|met(?:er|re)s?|kilomet(?:er|re)s?|miles?|mph"
    r"|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|inches|inch|in|feet|foot|ft|yards?|yd"
    r"|units?|dollars?|cents?|percent|liters?|litres?|pounds?|ounces?|grams?|kilograms?|gallons?|people|ways|points?)"
    r"\.?(?:\s{0,2}\^\s?(?:\{[0-9]\}|[0-9]))?\s{0,4}$"
)
_PERCENT_WORD: Final = re.compile(r"(?<=[0-9}])\s{0,4}(?:\\text\s?\{\s{0,4})?percent\s{0,4}\}?$")
_PREFIX: Final = re.compile(r"^[A-Za-z]{1,2}(?:_\{?[0-9A-Za-z]\}?)?\s{0,4}(?:=|\\in(?![A-Za-z]))(?!=)")
_FRACTION: Final = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_BARE_FRACTION: Final = re.compile(r"\\frac\s*(?:\{([^{}]*)\}|([0-9A-Za-z]))\s*(?:\{([^{}]*)\}|([0-9A-Za-z]))")
_BARE_ROOT: Final = re.compile(r"\\sqrt\s*([0-9A-Za-z])")
_GROUPED: Final = re.compile(r"(?<![0-9.])[0-9]{1,3}(?:(?:,|\{,\}|\\,|\\!,|,\\!|\{\\,\})[0-9]{3})+(?![0-9])")
_POINT: Final = re.compile(r"(?<![0-9.])\.(?=[0-9])")
_SPACED: Final = re.compile(r"(?<![0-9.])[0-9]{1,3}(?: [0-9]{3})+(?![0-9/.])")
_APART: Final = re.compile(r"(?<=[0-9])\s+(?=[0-9])")
_DECIMAL: Final = re.compile(r"([-+]?)([0-9]*)(?:\.([0-9]*))?$")
_RATIO: Final = re.compile(
    r"([-+]?)([0-9]+)?(?:\\frac\{([-+]?[0-9.]+)\}\{([-+]?[0-9.]+)\}|(?:(?<=[0-9])\s)?([0-9.]+)/([0-9.]+))$"
)
_SCIENTIFIC: Final = re.compile(
    r"([-+]?[0-9]+(?:\.[0-9]*)?)(?:(?:\\times|\\cdot|\*)10\^\{?([-+]?[0-9]{1,3})\}?|[eE]([-+]?[0-9]{1,3}))$"
)
_BASED: Final = re.compile(r"([0-9A-Fa-f]+)_\{?(?:\\text\{)?([0-9]{1,2})\}{0,2}")
"""Digits in another base than ten."""
_DIGITS: Final = 400
_LETTER: Final = re.compile(r"\(?([A-Za-z])\)$")
_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z .,'-]*[A-Za-z.]$")


def same(gold: str, answer: str) -> bool | None:
    """Whether the two are one value in perhaps two notations; None when only computer algebra could tell.

    Both missing is no equality: a blank text equals nothing.
    """
    if not gold.strip() or not answer.strip():
        return False
    if gold.strip() == answer.strip():
        return True
    if len(answer) > LONGEST or len(gold) > LONGEST:
        return False if len(gold) <= LONGEST else None
    left, right = values(gold), values(answer)
    if left and right:
        if len(left) == len(right) == 2:
            # Two percentages: 100 % is one, and 1 % is not.
            return max(left, key=abs) == max(right, key=abs)
        return bool(left & right)
    one_base, other_base = (_BASED.fullmatch(_SPACES.sub("", plain(text))) for text in (gold, answer))
    if one_base and other_base:
        return one_base.groups() == other_base.groups()
    one = normal(gold)
    if one and one == normal(answer):
        return True
    if _same_words(gold, answer):
        return True
    return _same_parts(gold, answer)


def normal(text: str) -> str:
    r"""One spelling of an answer, as MATH's normaliser makes it.

    Without line breaks, spaces, sizes, degrees, dollar and percent signs, units behind a number and a short ``x =`` in
    front; ``\dfrac12``, ``1/2`` and ``0.5`` are ``\frac{1}{2}``, ``\sqrt3`` is ``\sqrt{3}``.
    """
    found = plain(text).replace("\\%", "").replace("%", "")
    # Digits with a space between them are two numbers, which MATH's normaliser makes one of.
    found = _SPACES.sub("", _APART.sub(" and ", _TEXT.sub(r"\1", found)))
    found = _POINT.sub("0.", found)
    found = _GROUPED.sub(lambda match: re.sub(r"[^0-9]", "", match.group()), found)
    if found == "0.5":
        return r"\frac{1}{2}"
    if match := re.fullmatch(r"(-?[0-9]+)/([0-9]+)", found):
        found = rf"\frac{{{match[1]}}}{{{match[2]}}}"
    return found.rstrip(".") if not found.endswith("..") else found


def values(text: str) -> frozenset[Fraction]:
    """The exact rational numbers that a text may mean; empty when it is no plain number.

    A percentage means two: 50 % is one half, and is written for 50 where a per cent figure is asked.
    """
    found = plain(text)
    percent = bool(re.search(r"\\?%\s*$", found) or _PERCENT_WORD.search(text))
    found = re.sub(r"\s*\\?%\s*$", "", found)
    found = _GROUPED.sub(lambda match: re.sub(r"[^0-9]", "", match.group()), found)
    found = re.sub(r"\\[,;:! ]", " ", found).replace("−", "-").strip()
    found = _SPACED.sub(lambda match: match.group().replace(" ", ""), found)
    found = re.sub(r"(?<![0-9])\s+|\s+(?![0-9])", "", found)
    while len(found) > 2 and found[0] == "{" and found[-1] == "}" and "{" not in found[1:]:
        found = found[1:-1]
    value = _value(found)
    if value is None:
        return frozenset()
    return frozenset({value, value / 100}) if percent else frozenset({value})


def _value(text: str) -> Fraction | None:
    if len(text) > _DIGITS:
        return None
    if (match := _DECIMAL.match(text)) and (match[2] or match[3]):
        return Fraction(f"{match[1]}{match[2] or 0}.{match[3] or 0}")
    if match := _SCIENTIFIC.match(text):
        return Fraction(match[1].rstrip(".")) * Fraction(10) ** int(match[2] or match[3])
    match = _RATIO.match(text)
    if match is None:
        return None
    sign, whole, *parts = match.groups()
    if parts[2] is not None and whole and " " not in text:
        # The digits before a slash are one number; a mixed one has a space: 1 1/2.
        parts[2], whole = whole + parts[2], None
    above, below = (_decimal(part) for part in ((parts[0], parts[1]) if parts[0] is not None else (parts[2], parts[3])))
    if above is None or not below or (whole and (above < 0 or below < 0)):
        return None
    value = int(whole or 0) + above / below
    return -value if sign == "-" else value


def _decimal(text: str) -> Fraction | None:
    match = _DECIMAL.match(text)
    if match is None or not (match[2] or match[3]):
        return None
    return Fraction(f"{match[1]}{match[2] or 0}.{match[3] or 0}")


def plain(text: str) -> str:
    """An answer without sizes, degrees, dollars, units and a short prefix; fractions and roots with braces."""
    found = text.replace("\n", " ").replace("\r", " ").replace("−", "-")
    found = _SIZES.sub("", found)
    found = _DEGREES.sub("", found)
    found = found.replace("\\$", "").replace("$", "").strip()
    found = _PREFIX.sub("", found, count=1)
    shorter = _TRAILING_TEXT.sub("", found)
    shorter = _UNIT.sub("", shorter)
    found = shorter if shorter.strip() else found
    found = _FRACTION.sub(r"\\frac", found)
    found = _BARE_ROOT.sub(r"\\sqrt{\1}", found)
    return _BARE_FRACTION.sub(
        lambda match: rf"\frac{{{_part(match[1], match[2])}}}{{{_part(match[3], match[4])}}}", found
    ).strip()


def _part(braced: str | None, bare: str | None) -> str:
    return (braced if braced is not None else bare or "").strip()


def _same_words(gold: str, answer: str) -> bool:
    """Whether both are words, or one letter of a choice, and the same ones but for capitals and brackets."""
    one, other = (re.sub(r"\s+", " ", _TEXT.sub(r"\1", text).strip(" $")).rstrip(".") for text in (gold, answer))
    if (left := _LETTER.match(one)) and (right := _LETTER.match(other)):
        return left[1] == right[1]
    left, right = (re.match(r"\(?([A-Z])\)?$", text) for text in (one, other))
    if left and right:
        return left[1] == right[1]
    return bool(_WORDS.match(one)) and len(one) > 1 and one.casefold() == other.casefold()


def _same_parts(gold: str, answer: str) -> bool | None:
    """Element by element, where both are a tuple or an interval of the same length; None where an element is open."""
    one, other = parts(plain(gold)), parts(plain(answer))
    if one is None or other is None or len(one[1]) < 2:
        return None
    if one[0] != other[0] or one[0].startswith("\\{"):
        return None
    if len(one[1]) != len(other[1]):
        return None
    found = [same(left, right) for left, right in zip(one[1], other[1], strict=True)]
    return True if all(found) else None


def parts(text: str) -> tuple[str, list[str]] | None:
    """The brackets around a text, and what the commas between them part; None where it is no such list."""
    found = text.strip()
    if len(found) < 2 or found[0] not in "([" or found[-1] not in ")]":
        return None
    depth, begin, elements = 0, 1, []
    for index, letter in enumerate(found):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0 and index < len(found) - 1:
                return None
        elif letter == "," and depth == 1:
            elements.append(found[begin:index])
            begin = index + 1
    elements.append(found[begin:-1])
    return found[0] + found[-1], [element.strip() for element in elements]
