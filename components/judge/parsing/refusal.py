"""Tells a judge that declines from one that writes nonsense."""

import re
from typing import Final

_SORRY: Final = (
    r"(?:i'?m (?:very |really |so )?sorry[,.;:!]*\s*(?:but\s+)?|sorry[,.;:!]*\s*(?:but\s+)?|unfortunately,?\s*)"
)
_CANNOT: Final = (
    r"(?:cannot|can ?not|can'?t|won'?t|will not|(?:am|'m) (?:not able|unable) to|must decline|have to decline)"
)
_DEEDS: Final = (
    r"(?:assist|help|comply|evaluate|judge|grade|assess|provide|respond|answer|engage|fulfil|continue|discuss|process|"
    r"review|rate|do|participate|with|to)"
)
_REFUSAL: Final = re.compile(
    rf"^\W*(?:{_SORRY})?(?:as an ai[^,.]*,\s*)?i\s*{_CANNOT}\s+{_DEEDS}\b"
    r"|^\W*(?:i must decline|i decline|i refuse)\b"
    r"|content (?:policy|policies|filter)|inappropriate content|data_inspection_failed"
    r"|^\W*(?:对不起|抱歉|很抱歉|我无法|我不能)",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Whether a reply that holds no verdict declines to give one."""
    return _REFUSAL.search(text.replace("’", "'").strip()[:400]) is not None
