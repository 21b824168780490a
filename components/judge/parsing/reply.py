"""The parser: a reply in, for every criterion asked a reading out."""

import dataclasses
import re
from collections.abc import Container, Mapping, Sequence
from typing import Final

from components.judge.parsing.claims import Claim, claims_in, decides
from components.judge.parsing.labels import Label, agree
from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.refusal import is_refusal
from components.judge.parsing.scan import Broken, Cut, Whole, copies, enclosing, goes_on, scan, stands_alone
from components.judge.verdict import UnknownReason, VerdictStatus

VERSION: Final = 4
"""Raised when a reply comes to mean something else; part of every protocol's version."""

_REASONS: Final = {
    Label.UNDECIDED: UnknownReason.UNDECIDED,
    Label.UNREADABLE: UnknownReason.UNPARSEABLE,
    Label.CONTRADICTORY: UnknownReason.CONTRADICTORY,
}
_CLOSERS: Final = re.compile(r"[\s\]\}`\"'*,;.~_]*")
_BETWEEN: Final = re.compile(r"[\s,;]*+")


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says about one criterion.

    Attributes:
        status: met, unmet or unknown.
        reason: why it is unknown; None exactly when it is known.
        explanation: the judge's own words, where the reply has a place for them.
    """

    status: VerdictStatus
    reason: UnknownReason | None = None
    explanation: str | None = None


def read_reply(reply: str, wanted: Sequence[int], *, cut: bool = False, quoted: str = "") -> dict[int, Reading]:
    """Verdicts from the last JSON in a reply that holds any.

    Only JSON counts, and only what it says without doubt: a verdict that the reply's end cuts, a number that was not
    asked for in place of one that was, two labels for one criterion, or a label that is none, are unknown. Objects of
    one verdict each that follow one another count as one list.

    Args:
        reply: the judge's text.
        wanted: numbers of the criteria, from 1, that the judge was asked for; a verdict without a number is taken when
            there is only one.
        cut: the server says that it stopped for length.
        quoted: the response under judgement, as the judge saw it. Verdicts that stand in it word for word are the
            judge's quotation as long as the judge has given others; where there are no others, they must agree, and
            be all that the reply consists of.

    Returns:
        One reading for every number in ``wanted``.
    """
    spoken = drop_reasoning(reply)
    if not reply.strip():
        return _all(wanted, UnknownReason.EMPTY_REPLY)
    if not spoken.text.strip():
        return _all(wanted, UnknownReason.TRUNCATED if spoken.unfinished or cut else UnknownReason.EMPTY_REPLY)
    found = _find(spoken.text, len(wanted) == 1, cut or spoken.unfinished, quoted)
    if isinstance(found, UnknownReason):
        if found is UnknownReason.UNPARSEABLE and is_refusal(spoken.text):
            found = UnknownReason.REFUSED
        return _all(wanted, found)
    claims, rest = found
    return _assign(claims, wanted, rest)


def _find(text: str, single: bool, cut: bool, quoted: str) -> tuple[list[Claim], UnknownReason] | UnknownReason:
    """The claims that count, and the reason for criteria that they leave out; or why none count."""
    found = scan(text)
    said: dict[int, list[Claim]] = {}
    for piece in found:
        if isinstance(piece, Whole) and (claims := _claims(piece, single)):
            said[piece.start] = claims
    copied = copies(text, found, quoted)
    own = said.keys() - copied
    if not own and _differ(said):
        return UnknownReason.CONTRADICTORY
    pieces = [p for p in found if not isinstance(p, Whole) or p.start in (own or said)]
    if not pieces:
        return UnknownReason.TRUNCATED if cut else UnknownReason.UNPARSEABLE
    last = pieces[-1]
    if isinstance(last, Cut):
        return _partial(pieces, copied) or UnknownReason.TRUNCATED
    if isinstance(last, Broken):
        return UnknownReason.TRUNCATED if cut else UnknownReason.UNPARSEABLE
    outer = enclosing(text, pieces[:-1], last)
    tail = not _CLOSERS.fullmatch(text, last.end)
    alone = own or stands_alone(text, [p for p in pieces if isinstance(p, Whole)])
    if goes_on(text, last, found) or not alone:
        return UnknownReason.TRUNCATED if cut else UnknownReason.UNPARSEABLE
    if cut and (tail or last.start in copied):
        return UnknownReason.TRUNCATED
    if outer:
        # The value is whole and what is around it is not: it counts only as the last thing there, with its own names.
        numbered = all(claim.number is not None for claim in said[last.start])
        decided = decides(text[outer[0].start : last.start])
        if tail or not numbered or last.start in copied or decided:
            return UnknownReason.TRUNCATED if isinstance(outer[0], Cut) else UnknownReason.UNPARSEABLE
    claims = _run(text, pieces, said)
    later = {place: said[place] for place in said.keys() & copied if place > last.start}
    if _differ({**later, last.start: claims}, single):
        # The judge's own word, and behind it another one that the response has, too: a repetition, or the last word.
        return UnknownReason.CONTRADICTORY
    return claims, UnknownReason.MISSING


def _claims(piece: Whole, single: bool) -> list[Claim]:
    return [claim for claim in claims_in(piece.value) if single or claim.number is not None]


def _differ(said: Mapping[int, list[Claim]], single: bool = False) -> bool:
    labels: dict[int | None, set[Label]] = {}
    for claims in said.values():
        for claim in claims:
            labels.setdefault(None if single else claim.number, set()).add(claim.label)
    return len(said) > 1 and any(len(each) > 1 for each in labels.values())


def _partial(
    pieces: Sequence[Whole | Cut | Broken], copied: Container[int]
) -> tuple[list[Claim], UnknownReason] | None:
    """The whole elements of the list that the reply's end cuts, if the last thing begun is an element of it."""
    for piece in reversed(pieces[-2:]):
        if isinstance(piece, Cut) and piece.elements and piece.start not in copied:
            claims = [claim for claim in claims_in(list(piece.elements)) if claim.number is not None]
            return (claims, UnknownReason.TRUNCATED) if claims else None
    return None


def _run(text: str, pieces: Sequence[Whole | Cut | Broken], said: dict[int, list[Claim]]) -> list[Claim]:
    """The last value's claims; where it is one of a run of values that decide one criterion each, the run's."""
    last = pieces[-1]
    claims = list(said[last.start])
    if len(claims) != 1:
        return claims
    start = last.start
    for piece in reversed(pieces[:-1]):
        joined = isinstance(piece, Whole) and _BETWEEN.fullmatch(text, piece.end, start)
        if not joined or len(said[piece.start]) != 1:
            break
        claims.append(said[piece.start][0])
        start = piece.start
    return claims[::-1]


def _assign(claims: list[Claim], wanted: Sequence[int], rest: UnknownReason) -> dict[int, Reading]:
    by_number: dict[int, list[Claim]] = {}
    for claim in claims:
        by_number.setdefault(wanted[0] if claim.number is None else claim.number, []).append(claim)
    strange = by_number.keys() - set(wanted)
    if strange and len(wanted) == 1:
        # Steps of its own, numbered: one of them may bear the criterion's number.
        return _all(wanted, UnknownReason.UNPARSEABLE)
    if 0 in strange or (strange and set(wanted) - by_number.keys()):
        # Counted from 0, or renumbered: any of the numbers may mean another criterion.
        return _all(wanted, UnknownReason.UNPARSEABLE)
    return {number: _reading(by_number.get(number, []), rest) for number in wanted}


def _reading(claims: list[Claim], rest: UnknownReason) -> Reading:
    if not claims:
        return Reading(VerdictStatus.UNKNOWN, rest)
    label = agree([claim.label for claim in claims])
    if label in _REASONS:
        return Reading(VerdictStatus.UNKNOWN, _REASONS[label])
    explanation = next((claim.explanation for claim in claims if claim.explanation), None)
    return Reading(VerdictStatus(label.value), None, explanation)


def _all(wanted: Sequence[int], reason: UnknownReason) -> dict[int, Reading]:
    return {number: Reading(VerdictStatus.UNKNOWN, reason) for number in wanted}
