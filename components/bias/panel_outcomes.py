"""A panel's outcomes, made of what its members said of the same forms: nobody is asked again.

A panel decides criteria, so it is probed where criteria are asked, in binary mode. For marks, and for
choices between two responses, it has no rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from components.bias.types import Mode, Outcome
from components.judge.memory import Entry
from components.judge.panel.combine import combine
from components.judge.verdict import UnknownReason, Verdict, VerdictStatus

if TYPE_CHECKING:
    from components.core.spec.panel import PanelSpec

OWN_WRITING: Final = frozenset({"self_preference", "family_preference"})
"""Probes whose items differ by judge, so that a panel's members are not asked about the same."""
LEAVES_OUT: Final = "a panel decides criteria; for marks and choices it has no rule"
NO_OWN: Final = "a panel has no writing of its own"


def panel_outcomes(
    members: Sequence[str], panel: "PanelSpec", outcomes: Iterable[Outcome], entries: Iterable[Entry]
) -> list[Outcome]:
    """One outcome of the panel for each form that its first member was asked about in binary mode.

    Args:
        members: their names, the experiment's own judge first.
        panel: how they decide together.
        outcomes: of the members.
        entries: their verdicts, in the order of writing; the newest of a criterion counts.

    Returns:
        In the order of the first member's. The value is the mean of the probabilities where the panel gives one for
        each criterion, else the share met; unknown where any criterion is unknown.
    """
    said: dict[str, dict[str, dict[int, Entry]]] = defaultdict(lambda: defaultdict(dict))
    for entry in entries:
        said[entry.sample_id][entry.judge][entry.criterion_index] = entry
    found = []
    for outcome in outcomes:
        if outcome.judge != members[0] or outcome.mode is not Mode.BINARY or outcome.probe in OWN_WRITING:
            continue
        name = f"{outcome.probe}/{outcome.item_id}/{outcome.role.value}/{outcome.mode.value}/{outcome.repeat}"
        verdicts = _combined(members, panel, said.get(name, {}))
        found.append(_outcome(outcome, panel.name, verdicts))
    return found


def _combined(members: Sequence[str], panel: "PanelSpec", said: Mapping[str, Mapping[int, Entry]]) -> list[Verdict]:
    lines = sorted({index for by_index in said.values() for index in by_index})
    return [
        combine(
            [_verdict(said.get(member, {}).get(index), member) for member in members],
            panel.combine,
            quorum=panel.quorum,
            penalty=False,
            judge=panel.name,
            protocol="panel",
        )
        for index in lines
    ]


def _verdict(entry: Entry | None, member: str) -> Verdict:
    if entry is None:
        return Verdict(VerdictStatus.UNKNOWN, None, None, UnknownReason.MISSING, member, "", 0)
    reason = None if entry.reason is None else UnknownReason(entry.reason)
    return Verdict(VerdictStatus(entry.status), entry.probability, None, reason, member, entry.protocol, entry.attempts)


def _outcome(like: Outcome, name: str, verdicts: Sequence[Verdict]) -> Outcome:
    unknown = next((each.reason for each in verdicts if each.reason is not None), None)
    if not verdicts or unknown is not None:
        reason = (unknown or UnknownReason.MISSING).value
        return _like(like, name, None, reason, None)
    chances = [each.probability for each in verdicts if each.probability is not None]
    if len(chances) == len(verdicts):
        mean = sum(chances) / len(chances)
        return _like(like, name, mean, None, mean)
    met = sum(each.status is VerdictStatus.MET for each in verdicts) / len(verdicts)
    return _like(like, name, met, None, None)


def _like(like: Outcome, name: str, value: float | None, reason: str | None, probability: float | None) -> Outcome:
    return Outcome(
        name,
        like.probe,
        like.mode,
        like.item_id,
        like.text_id,
        like.role,
        like.order,
        like.repeat,
        value,
        reason,
        probability,
        like.words,
        like.author,
        like.gold,
    )
