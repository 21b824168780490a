"""Which criterion a JSON value decides, and how: maps by criterion, lists of {id, verdict}, single verdicts."""

import re
from typing import Final, NamedTuple

from components.judge.parsing.labels import Label, agree, label_of, listed, normal
from components.judge.parsing.values import Number, Object, Value

_ID: Final = re.compile(
    r"(?:c|cr|crit|criterion|criteria|item|constraint|rubric|requirement|q|no|number|#)?[\s_.#:-]*0*(\d{1,5})"
    r"(?:[.):]?|[.):]\s+\S.*|\s*\(\s*\D.*)",
    re.DOTALL,
)
"""``3``, ``c3``, ``Criterion 3``, ``criterion_03``, ``#3``, ``3. mentions an animal``."""

_ID_KEYS: Final = listed("""
id|criterionid|criteriaid|constraintid|itemid|rubricid|criterion|criteria|constraint|item|rubric|requirement|number|no|
num|key|name|index|idx|criterionindex|criterionnumber
""")
"""From the surest one to the least sure one."""

_VERDICT_KEYS: Final = frozenset(
    listed("""
verdict|finalverdict|status|label|answer|finalanswer|result|judgement|judgment|decision|conclusion|assessment|
evaluation|grade|met|ismet|criteriamet|criterionmet|present|ispresent|satisfied|issatisfied|fulfilled|isfulfilled|
passed|pass|value|same|equivalent|isequivalent|issame
""")
)
_EXPLANATIONS: Final = frozenset(listed("explanation|reason|reasoning|rationale|justification|comment|evidence"))
_DEEPEST: Final = 4


class Claim(NamedTuple):
    """One statement of a judge.

    Attributes:
        number: the criterion, from 1; None when the statement names none.
        label: what it says.
        explanation: the judge's words for it.
    """

    number: int | None
    label: Label
    explanation: str | None = None


def claims_in(value: Value, depth: int = 0) -> list[Claim]:
    """All statements that a value makes. Criteria named at one level hide what lies deeper."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        if len(value) == 1:
            return claims_in(value[0], depth + 1)
        return [claim for each in value for claim in claims_in(each, depth + 1) if claim.number is not None]
    if not isinstance(value, Object):
        return []
    named = [(number, content) for key, content in value.pairs if (number := criterion_number(key)) is not None]
    if named:
        return [Claim(number, *_statement(content)) for number, content in named]
    own = _own_statement(value)
    if own is not None and own.number is not None and own.label is not Label.UNREADABLE:
        return [own]
    inner = [
        claim
        for _, content in value.pairs
        if isinstance(content, Object | list)
        for claim in claims_in(content, depth + 1)
        if claim.number is not None
    ]
    if own is None or (inner and own.label is Label.UNREADABLE):
        return inner
    return [*inner, own]


def criterion_number(key: str) -> int | None:
    """The criterion that a key names, from 1; 0 stays 0; None for other keys."""
    found = _ID.fullmatch(normal(key))
    return int(found[1]) if found else None


def _own_statement(value: Object) -> Claim | None:
    if not any(_plain(key) in _VERDICT_KEYS for key, _ in value.pairs):
        return None
    return Claim(_own_number(value), *_statement(value))


def _own_number(value: Object) -> int | None:
    by_key = {_plain(key): content for key, content in reversed(value.pairs)}
    for key in _ID_KEYS:
        content = by_key.get(key)
        text = content.text if isinstance(content, Number) else content
        if isinstance(text, str) and (number := criterion_number(text)) is not None:
            return number
    return None


def _statement(value: Value, depth: int = 0) -> tuple[Label, str | None]:
    if not isinstance(value, Object):
        return label_of(value), None
    said = [
        _statement(content, depth + 1)[0] if depth < _DEEPEST else Label.UNREADABLE
        for key, content in value.pairs
        if _plain(key) in _VERDICT_KEYS
    ]
    explained = next(
        (content for key, content in value.pairs if _plain(key) in _EXPLANATIONS and isinstance(content, str)), None
    )
    return (agree(said) if said else Label.UNREADABLE), explained


def _plain(key: str) -> str:
    return normal(key).replace(" ", "")
