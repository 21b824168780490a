"""Which criterion a JSON value decides, and how: maps by criterion, lists of {id, verdict}, single verdicts."""

import re
from typing import Final, NamedTuple

from components.judge.parsing.labels import Label, agree, is_negated, label_of, listed, normal, opposite
from components.judge.parsing.values import Number, Object, Value

_ID: Final = re.compile(
    r"(?:c|cr|crit|criterion|criteria|item|constraint|rubric|requirement|q|no|number|#)?[\s_.#:-]*0*(\d{1,5})"
    r"(?:[.):]?|[.):]\s+\S.*)",
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
_CONTRARY_KEYS: Final = frozenset(
    listed("unmet|notmet|isunmet|failed|fails|absent|notpresent|unsatisfied|notsatisfied|violated|different")
)
"""Keys under which true means unmet."""
_EXPLANATIONS: Final = frozenset(listed("explanation|reason|reasoning|rationale|justification|comment|evidence"))
_DEEPEST: Final = 4
_PAIR: Final = re.compile(r"(?=[\"']([^\"'{}\[\]:]{1,80})[\"']\s*+:\s*+[\"']?([^\"',{}\[\]:]{1,40}))")
"""A key and the beginning of its plain value; wherever one may begin, for nobody knows which mark opens a string."""


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
        return _siblings([claim for each in value for claim in claims_in(each, depth + 1)])
    if not isinstance(value, Object):
        return []
    named = [(number, content) for key, content in value.pairs if (number := criterion_number(key)) is not None]
    own = _own_statement(value)
    if named:
        numbered = [Claim(number, *_statement(content)) for number, content in named]
        if any(
            " " in normal(key) and _is_label(content) for key, content in value.pairs if criterion_number(key) is None
        ):
            # Texts of criteria as keys, one of which begins with a number.
            return [Claim(claim.number, Label.UNREADABLE) for claim in numbered]
        return numbered if own is None or own.number is not None else [*numbered, own]
    if own is not None and own.number is not None and own.label is not Label.UNREADABLE:
        return [own]
    inner = [
        claim
        for _, content in value.pairs
        if isinstance(content, Object | list)
        for claim in claims_in(content, depth + 1)
        if claim.number is not None
    ]
    if own is None:
        return inner
    if inner and own.label is Label.UNREADABLE:
        said = [label_of(content) for key, content in value.pairs if _says(key) and _is_label(content)]
        return [*inner, Claim(own.number, agree(said))] if said else inner
    return [*inner, own]


def _siblings(claims: list[Claim]) -> list[Claim]:
    """Statements of one list. Where some have a number and some have none, a number may be a part of a text."""
    numbered = [claim for claim in claims if claim.number is not None]
    if len(numbered) == len(claims):
        return numbered
    return [Claim(claim.number, Label.UNREADABLE) for claim in numbered]


def _is_label(value: Value) -> bool:
    return not isinstance(value, Object | list) and label_of(value) is not Label.UNREADABLE


def _says(key: str) -> bool:
    return _plain(key) in _VERDICT_KEYS


def decides(beginning: str) -> bool:
    """Whether an object that is cut or broken, or one inside it, has decided something where ``beginning`` ends."""
    pairs = _PAIR.findall(beginning)
    return any(criterion_number(key) is not None or _says(key) for key, value in pairs if _is_label(value))


def criterion_number(key: str) -> int | None:
    """The criterion that a key names, from 1; 0 stays 0; None for other keys."""
    if is_negated(key):
        return None
    found = _ID.fullmatch(normal(key))
    return int(found[1]) if found else None


def _own_statement(value: Object) -> Claim | None:
    if not any(_says(key) for key, _ in value.pairs):
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
        if _says(key)
    ]
    if said:
        said += [opposite(label_of(content)) for key, content in value.pairs if _plain(key) in _CONTRARY_KEYS]
    explained = next(
        (content for key, content in value.pairs if _plain(key) in _EXPLANATIONS and isinstance(content, str)), None
    )
    return (agree(said) if said else Label.UNREADABLE), explained


def _plain(key: str) -> str:
    return normal(key).replace(" ", "")
