"""Panels: combined verdicts by hand, unknown members, what reaches the ledger, agreement over what was judged."""

from pathlib import Path

import pytest

from components.core.errors import JudgeError
from components.judge.memory import Ledger
from components.judge.panel.combine import Combine, combine
from components.judge.panel.panel import Panel
from components.judge.panel.tally import Tally
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict, VerdictStatus

SAMPLE = Sample("r", "s", "q", "text", (Criterion("a", 1.0), Criterion("b", -2.0)))
DOWN = UnknownReason.JUDGE_DOWN


def verdict(said: float | bool | UnknownReason, judge: str = "m") -> Verdict:
    if isinstance(said, UnknownReason):
        return Verdict(VerdictStatus.UNKNOWN, None, None, said, judge, "p/1", 3)
    status = VerdictStatus.MET if said > 0.5 else VerdictStatus.UNMET
    return Verdict(status, None if isinstance(said, bool) else said, None, None, judge, "p/1", 1)


class Member:
    """Gives the same answers to every sample."""

    def __init__(self, name: str, *said: float | bool | UnknownReason) -> None:
        self._verdicts = [verdict(each, name) for each in said]
        self.closed = False

    async def judge(self, sample: Sample) -> list[Verdict]:
        return self._verdicts

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("rule", "said", "expected"),
    [
        ("majority", (True, True, False), (VerdictStatus.MET, None)),
        ("majority", (0.9, 0.1, 0.2), (VerdictStatus.UNMET, None)),
        ("majority", (True, DOWN, True), (VerdictStatus.MET, None)),
        ("mean", (0.9, 0.6, 0.3), (VerdictStatus.MET, 0.6)),
        ("mean", (0.9, DOWN, 0.3), (VerdictStatus.MET, 0.6)),
        ("mean", (True, False, False), (VerdictStatus.UNMET, 1 / 3)),
        ("mean", (True, False), (VerdictStatus.UNMET, 0.5)),
        ("minimum", (0.9, 0.6, 0.8), (VerdictStatus.MET, 0.6)),
        ("minimum", (0.9, 0.2, DOWN), (VerdictStatus.UNMET, 0.2)),
        ("minimum", (True, True), (VerdictStatus.MET, 1.0)),
    ],
)
def test_combined_verdicts(rule: Combine, said: tuple[float, ...], expected: tuple[VerdictStatus, float | None]):
    found = combine([verdict(each) for each in said], rule, quorum=1, penalty=False, judge="panel", protocol="x")
    assert found.status is expected[0]
    assert found.probability == (None if expected[1] is None else pytest.approx(expected[1]))
    assert found.attempts == (3 if DOWN in said else 1)


def test_the_minimum_of_a_penalty_is_the_verdict_that_costs_most():
    given = [verdict(0.1), verdict(0.7)]
    assert combine(given, "minimum", quorum=1, penalty=True, judge="p", protocol="x").probability == 0.7


def test_an_even_split_is_no_majority_and_no_zero():
    found = combine([verdict(True), verdict(False)], "majority", quorum=1, penalty=False, judge="p", protocol="x")
    assert (found.status, found.reason) == (VerdictStatus.UNKNOWN, UnknownReason.SPLIT)


REFUSED, SPLIT, BUDGET = UnknownReason.REFUSED, UnknownReason.SPLIT, UnknownReason.BUDGET


@pytest.mark.parametrize(
    ("said", "quorum", "reason"),
    [
        # The third member would break the tie, once it is back.
        ((True, False, DOWN), 1, DOWN),
        ((True, False, REFUSED), 1, SPLIT),
        # It would also make up the quorum; the refusal is final and comes first.
        ((True, REFUSED, DOWN), 2, DOWN),
        # Here its return changes nothing: two of three can never know.
        ((REFUSED, REFUSED, DOWN), 2, REFUSED),
        # A member without a budget is no member that happens to be away.
        ((True, True, BUDGET), 1, BUDGET),
        ((DOWN, DOWN, BUDGET), 1, BUDGET),
    ],
)
def test_the_reason_is_what_stands_in_the_way(
    said: tuple[bool | UnknownReason, ...], quorum: int, reason: UnknownReason
):
    given = [verdict(each) for each in said]
    found = combine(given, "majority", quorum=quorum, penalty=False, judge="p", protocol="x")
    assert (found.status, found.reason) == (VerdictStatus.UNKNOWN, reason)


@pytest.mark.parametrize("rule", ["majority", "mean", "minimum"])
def test_below_the_quorum_nothing_is_known(rule: Combine):
    given = [verdict(1.0), verdict(DOWN), verdict(UnknownReason.TIMEOUT), verdict(DOWN)]
    found = combine(given, rule, quorum=2, penalty=False, judge="p", protocol="x")
    assert (found.status, found.reason, found.probability) == (VerdictStatus.UNKNOWN, DOWN, None)
    assert combine(given[1:], rule, quorum=1, penalty=False, judge="p", protocol="x").reason is DOWN


async def test_a_panel_judges_keeps_disagreement_and_closes_its_members(tmp_path: Path):
    members = [Member("one", 0.9, 0.2), Member("two", 0.3, 0.4), Member("three", DOWN, 0.1)]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        panel = Panel(members, "mean", quorum=2, ledger=ledger)
        found = await panel.judge(SAMPLE)
        await panel.close()
        rows = ledger.rows()
    assert [each.probability for each in found] == [pytest.approx(0.6), pytest.approx(0.7 / 3)]
    assert {each.judge for each in found} == {"panel"}
    assert [(row.judge, row.criterion_index, row.status, row.attempts) for row in rows] == [
        ("panel", 0, "met", 0),
        ("panel", 1, "unmet", 0),
    ]
    assert all(member.closed for member in members)
    assert (panel.tally.units, panel.tally.split) == (2, 1)
    assert panel.tally.members["one"].rate == 0.5
    assert (panel.tally.members["three"].unknown, panel.tally.members["three"].rate) == (1, 0.0)
    # Units {met, unmet} and {unmet, unmet, unmet}: 1 - (5 - 1) * 2 / (1 * 4 + 4 * 1).
    assert panel.tally.alpha == pytest.approx(0.0)


async def test_the_protocol_names_rule_and_members():
    one = await Panel([Member("a", 1.0, 1.0), Member("b", 1.0, 1.0)], "mean").judge(SAMPLE)
    same = await Panel([Member("b", 0.0, 0.0), Member("a", 0.0, 0.0)], "mean").judge(SAMPLE)
    other = await Panel([Member("a", 1.0, 1.0), Member("c", 1.0, 1.0)], "mean").judge(SAMPLE)
    stricter = await Panel([Member("a", 1.0, 1.0), Member("b", 1.0, 1.0)], "mean", quorum=2).judge(SAMPLE)
    assert one[0].protocol.startswith("panel-mean/")
    assert one[0].protocol == same[0].protocol
    assert len({one[0].protocol, other[0].protocol, stricter[0].protocol}) == 3


def test_impossible_panels():
    with pytest.raises(JudgeError, match="panel of 1"):
        Panel([Member("a")], "mean")
    with pytest.raises(JudgeError, match="quorum of 3 among 2"):
        Panel([Member("a"), Member("b")], "mean", quorum=3)


async def test_a_ledgers_tally_takes_the_newest_verdict_of_each_member(tmp_path: Path):
    from components.judge.memory import Entry

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for judge, said in [("a", False), ("b", True), ("a", True), ("panel", True), ("c", True)]:
            ledger.add([Entry.of(SAMPLE, 0, verdict(said, judge), seconds=0.0, prompt_tokens=0)])
        tally = Tally.of_entries(ledger.rows(), ["a", "b"])
    assert (tally.units, tally.split, tally.members["a"].met, tally.alpha) == (1, 0, 1, None)
    assert set(tally.members) == {"a", "b"}
