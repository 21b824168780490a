"""Which of two responses a judge prefers, in its last JSON object that says so."""

from typing import Final, Literal

from components.judge.parsing.labels import is_negated, listed, normal
from components.judge.parsing.named import read_named
from components.judge.parsing.values import Number, Value
from components.judge.verdict import UnknownReason

Choice = Literal["first", "second", "tie"]

_KEYS: Final = frozenset(
    listed("better|best|preferred|preference|winner|choice|verdict|answer|result|decision|judgement|judgment")
)
_FIRST: Final = "first|the first|first response|the first response|response 1|response one|1|1st|response first"
_SECOND: Final = "second|the second|second response|the second response|response 2|response two|2|2nd|response second"
_TIE: Final = "tie|tied|draw|equal|equally good|both|neither|none|no preference|same"
_LABELS: Final[dict[str, Choice]] = {
    **dict.fromkeys(listed(_FIRST), "first"),
    **dict.fromkeys(listed(_SECOND), "second"),
    **dict.fromkeys(listed(_TIE), "tie"),
}


def read_choice(reply: str, *, cut: bool = False, quoted: tuple[str, ...] = ()) -> Choice | UnknownReason:
    """The preference, or why none can be told; see :func:`components.judge.parsing.named.read_named`.

    Args:
        reply: the judge's text.
        cut: the server says that it stopped for length.
        quoted: the responses, as the judge saw them.
    """
    return read_named(reply, _KEYS, _label, cut=cut, quoted=quoted)


def _label(content: Value) -> Choice | None:
    text = content.text if isinstance(content, Number) else content
    return _LABELS.get(normal(text)) if isinstance(text, str) and not is_negated(text) else None
