"""Judge against gold, counted by hand."""

import pytest

from components.report.tasks.agreement import compare

YES, NO, UNKNOWN = True, False, None


def test_the_four_cells_and_kappa() -> None:
    """Cohen's own 2 x 2 arithmetic: observed 0.7; chance 0.5 x 0.6 + 0.5 x 0.4 = 0.5; kappa (0.7 - 0.5) / 0.5."""
    pairs = [(YES, YES)] * 4 + [(YES, NO)] * 1 + [(NO, YES)] * 2 + [(NO, NO)] * 3
    found = compare([*pairs, (UNKNOWN, YES), (NO, UNKNOWN), (UNKNOWN, UNKNOWN)])
    assert (found.n, found.both, found.judge_only, found.gold_only, found.neither) == (10, 4, 1, 2, 3)
    assert (found.judge_unknown, found.gold_unknown) == (1, 1)
    assert found.agree == 0.7
    assert found.kappa == pytest.approx(0.4)


def test_nothing_known_is_no_agreement() -> None:
    found = compare([(UNKNOWN, YES)])
    assert (found.n, found.agree, found.kappa) == (0, None, None)


def test_kappa_is_not_defined_where_chance_always_agrees() -> None:
    found = compare([(YES, YES)] * 5)
    assert (found.agree, found.kappa) == (1.0, None)
