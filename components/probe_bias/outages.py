"""When a judge's outcomes are no result: too many of them are unknown because nobody answered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from components.bias.run import Part, Plan
from components.bias.types import Measure, Mode, Outcome, Role
from components.core.errors import StepError
from components.judge.memory import Ledger
from components.judge.verdict import UnknownReason
from components.reward.shortfall import newest_words, over_budget

if TYPE_CHECKING:
    from components.core.spec import Experiment

AWAY: Final = frozenset(
    {
        UnknownReason.JUDGE_DOWN,
        UnknownReason.STREAM_ERROR,
        UnknownReason.STREAM_CUT,
        UnknownReason.NO_FINISH,
        UnknownReason.REJECTED,
        UnknownReason.TIMEOUT,
    }
)
"""Reasons that pass, or that a person mends: the same question may be answered in the next run. A probe of failures
keeps timeouts, since a longer response may well cause them."""

_Place = tuple[str, Mode]
"""Probe and mode."""


class Outages:
    """Counts what a judge left unanswered, and ends the work once it is too much of a probe in one mode.

    Outcomes that are published are used for good. Those of a judge that was away for a while would stay unknown, and
    what is left would be whatever was asked before or after.

    Args:
        experiment: says how much may be missing, ``reward.max_abstain_rate``.
        judge: its name.
        plan: what it is asked.
        ledger: gets its calls; quoted in errors.
    """

    def __init__(self, experiment: "Experiment", judge: str, plan: Plan, ledger: Ledger) -> None:
        self._experiment, self._judge, self._ledger = experiment, judge, ledger
        self._asked: Mapping[_Place, int] = {(part.probe.name, part.mode): _outcomes_of(part) for part in plan.parts}
        failures = {part.probe.name for part in plan.parts if part.probe.measure is Measure.FAILURE}
        self._away = {name: AWAY - {UnknownReason.TIMEOUT} if name in failures else AWAY for name, _ in self._asked}
        self._lost: dict[_Place, Counter[str]] = {part: Counter() for part in self._asked}

    def note(self, outcomes: Sequence[Outcome]) -> None:
        """Count the outcomes of an item.

        Raises:
            StepError: more of the probe is unanswered than may be.
            JudgeError: the budget is used up.
        """
        for each in outcomes:
            if each.reason == UnknownReason.BUDGET:
                raise over_budget(self._experiment, self._ledger, "only what is not known is asked")
            part = each.probe, each.mode
            if each.reason is not None and each.reason in self._away[each.probe]:
                self._lost[part][each.reason] += 1
                self._check(part)

    def _check(self, part: _Place) -> None:
        lost, asked, most = self._lost[part].total(), self._asked[part], self._experiment.reward.max_abstain_rate
        if lost <= most * asked:
            return
        told = newest_words(self._ledger)
        reasons = ", ".join(f"{reason} {count}" for reason, count in self._lost[part].most_common())
        raise StepError(
            f"the judge leaves too much unanswered to be probed: {lost} of the {asked} judgements of probe {part[0]} "
            f"({part[1].value}), more than {most:.0%}; reasons: {reasons}"
            + (f"; the newest failure: {told}" if told else ""),
            where=f"judge {self._judge}; {self._ledger.path}",
            remedy="see that the judge answers in time (judge.timeout_seconds), then run the same command again; "
            "replies that are known are kept. reward.max_abstain_rate says how much may be missing",
        )


def _outcomes_of(part: Part) -> int:
    """Outcomes of all its askings: pairwise one for each form but the base and order, else one for each form."""
    forms = sum(
        2 * sum(role is not Role.BASE for role in item.forms) if part.mode is Mode.PAIRWISE else len(item.forms)
        for item in part.items
    )
    return forms * (1 + part.repeats)
