"""What a judge may call met and unmet. Whole labels are compared, so that no label is found inside another one."""

import enum
import functools
import re
import unicodedata
from typing import Final

from components.judge.parsing.values import Number, Value


class Label(enum.Enum):
    """What a judge said about one criterion."""

    MET = "met"
    UNMET = "unmet"
    UNDECIDED = "undecided"
    UNREADABLE = "unreadable"
    CONTRADICTORY = "contradictory"


_MET: Final = """
met|is met|fully met|criterion met|criteria met|present|is present|true|yes|y|satisfied|is satisfied|fulfilled|
is fulfilled|pass|passed|passes|1|✓|✔|✅|☑|是
"""
_UNMET: Final = """
unmet|un met|not met|is not met|isn't met|notmet|criterion not met|criteria not met|not present|is not present|
isn't present|notpresent|absent|is absent|false|no|n|unsatisfied|not satisfied|is not satisfied|unfulfilled|
not fulfilled|is not fulfilled|fail|failed|fails|not passed|not true|0|✗|✘|❌|☒|否
"""
_UNDECIDED: Final = """
unknown|undecided|unsure|uncertain|unclear|cannot determine|can't determine|cannot tell|can't tell|undetermined|
indeterminate|not sure|not applicable|n/a|na
"""


def listed(words: str) -> list[str]:
    """The words between the bars."""
    return [word.strip() for word in words.split("|")]


_TABLE: Final = {
    **dict.fromkeys(listed(_MET), Label.MET),
    **dict.fromkeys(listed(_UNMET), Label.UNMET),
    **dict.fromkeys(listed(_UNDECIDED), Label.UNDECIDED),
}

_DRESS: Final = " \t\r\n\"'`*.,;:!()[]{}“”‘’\u200b\ufeff"
_SIGNS: Final = tuple("!-‐‑‒–—−¬~.+")
_JOINTS: Final = re.compile(r"[\s_\-‐‑–—\u200b]+")


def label_of(value: Value) -> Label:
    """What one plain JSON value says; objects and arrays say nothing here."""
    if isinstance(value, bool):
        return Label.MET if value else Label.UNMET
    if isinstance(value, Number):
        return {"1": Label.MET, "0": Label.UNMET}.get(value.text, Label.UNREADABLE)
    if isinstance(value, str):
        if is_negated(value):
            return Label.UNREADABLE
        return _TABLE.get(normal(value), Label.UNREADABLE)
    return Label.UNREADABLE


@functools.lru_cache(maxsize=1024)
def is_negated(text: str) -> bool:
    """Whether a sign stands in front that may turn the word or number behind it, and that :func:`normal` drops."""
    return unicodedata.normalize("NFKC", text).strip(" \t\r\n\"'`*_“”‘’")[:1] in _SIGNS


def opposite(label: Label) -> Label:
    """What a label says under a key that names the contrary."""
    return {Label.MET: Label.UNMET, Label.UNMET: Label.MET}.get(label, label)


def normal(text: str) -> str:
    """A label's one spelling: compatibility forms folded, dress and case gone, joints as single spaces."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").replace("\ufe0f", "").casefold()
    return _JOINTS.sub(" ", folded.strip(_DRESS)).strip()


def agree(labels: list[Label]) -> Label:
    """What several statements about one criterion amount to."""
    kinds = set(labels)
    if len(kinds) == 1:
        return labels[0]
    if Label.UNREADABLE in kinds:
        return Label.UNREADABLE
    return Label.CONTRADICTORY
