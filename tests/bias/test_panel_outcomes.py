"""What a panel makes of its members' verdicts on a probe's forms."""

import pytest

from components.bias.panel_outcomes import panel_outcomes
from components.bias.types import Mode, Outcome, Role
from components.core.spec.panel import PanelSpec
from components.core.spec.single import load_judge
from components.judge.memory import Entry

_MEMBERS = ("a", "b", "c")


def _outcome(judge: str = "a", *, probe: str = "style", mode: Mode = Mode.BINARY) -> Outcome:
    order = "base_first" if mode is Mode.PAIRWISE else None
    return Outcome(judge, probe, mode, "t.0", "t", Role.CHANGED, order, 0, 1.0, None, None, 9)


def _entry(
    judge: str, line: int, status: str, probability: float | None = None, *, reason: str | None = None, at: float = 0.0
) -> Entry:
    name, sample = "style/t.0", "style/t.0/changed/binary/0"
    return Entry(
        sample, name, f"c{line}", line, status, probability, None, reason, judge, "rubric", 1, 0.1, 9, 50, None, at
    )


def _panel(combine: str, quorum: int = 2) -> PanelSpec:
    return PanelSpec(name="p", members=(load_judge("scripted-plain"),), combine=combine, quorum=quorum)


def test_a_majority_decides_line_by_line() -> None:
    met = {"a": (1, 1, 0, 0), "b": (1, 0, 0, 1), "c": (0, 1, 0, 0)}
    entries = [
        _entry(judge, line, "met" if is_met else "unmet")
        for judge, lines in met.items()
        for line, is_met in enumerate(lines)
    ]
    (found,) = panel_outcomes(_MEMBERS, _panel("majority"), [_outcome(), _outcome("b")], entries)
    # Two of three say yes to the first two lines, none or one to the others.
    assert (found.judge, found.value, found.reason, found.probability) == ("p", 0.5, None, None)
    assert (found.role, found.item_id, found.words) == (Role.CHANGED, "t.0", 9)


def test_the_mean_is_of_probabilities_and_the_newest_verdict_counts() -> None:
    entries = [
        _entry("a", 0, "unmet", 0.1),
        _entry("b", 0, "met", 0.9),
        _entry("c", 0, "met"),
        _entry("a", 0, "met", 0.8, at=1.0),
    ]
    (found,) = panel_outcomes(_MEMBERS, _panel("mean"), [_outcome()], entries)
    assert found.value == pytest.approx((0.8 + 0.9 + 1.0) / 3)
    assert found.probability == found.value


def test_below_the_quorum_nothing_is_known() -> None:
    failed = [_entry(judge, 0, "unknown", reason="unparseable") for judge in ("a", "b")]
    (found,) = panel_outcomes(_MEMBERS, _panel("mean"), [_outcome()], [*failed, _entry("c", 0, "met")])
    assert (found.value, found.reason) == (None, "unparseable")
    (silent,) = panel_outcomes(_MEMBERS, _panel("mean"), [_outcome()], [])
    assert (silent.value, silent.reason) == (None, "missing")


def test_marks_choices_and_own_writing_are_no_panels() -> None:
    others = [_outcome(mode=Mode.POINTWISE), _outcome(mode=Mode.PAIRWISE), _outcome(probe="self_preference")]
    assert panel_outcomes(_MEMBERS, _panel("mean"), others, []) == []
