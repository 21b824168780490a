"""VerIF's reward: rows by hand, and the formula in exact fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdicts import BROKEN, FAILED, MET, PASSED, UNMET, known, llm, unknown

from components.core.errors import ContractError
from components.judge.verdict import UnknownReason, Verdict, VerdictStatus
from components.reward.verif import check_no_penalty, verif_reward

SOFT = [llm("is kind"), llm("is short")]


@pytest.mark.parametrize(
    ("rules", "verdicts", "reward"),
    [
        # 3 of 4 checks hold, the judge says yes; a binary hard part would give 0.
        ([PASSED, PASSED, FAILED, PASSED], [MET, MET], 0.75),
        ([PASSED, PASSED], [UNMET, UNMET], 0.0),
        ([FAILED, FAILED], [MET, MET], 0.0),
        ([PASSED, FAILED], [MET, UNMET], 0.25),
        ([], [MET, MET], 1.0),
    ],
)
def test_worked_rows(rules: list[Verdict], verdicts: list[Verdict], reward: float) -> None:
    found = verif_reward(rules, SOFT, verdicts)
    assert (found.status, found.value, found.reason, found.known_weight) == ("scored", reward, None, 1.0)
    assert found.parts["rules"] * found.parts["judge"] == reward
    assert (found.parts["rule_lines"], found.parts["llm_lines"]) == (len(rules), 2)


def test_without_a_line_for_the_judge_the_rules_decide_alone() -> None:
    found = verif_reward([PASSED, FAILED], [], [])
    assert (found.value, found.parts["judge"], found.parts["llm_lines"]) == (0.5, 1.0, 0.0)


def test_a_check_that_failed_to_run_leaves_the_mean() -> None:
    assert verif_reward([PASSED, PASSED, PASSED, FAILED, BROKEN], SOFT, [MET, MET]).value == 0.75


def test_too_few_checks_known_abstain() -> None:
    found = verif_reward([PASSED, PASSED, PASSED, BROKEN], SOFT, [MET, MET])
    assert (found.status, found.value, found.parts, found.reason) == ("abstained", None, {}, "rules_unknown")
    assert found.known_weight == 0.75
    assert verif_reward([BROKEN], [], []).value is None
    assert verif_reward([PASSED, PASSED, PASSED, BROKEN], SOFT, [MET, MET], min_known_weight=0.75).value == 1.0


@pytest.mark.parametrize("rules", [[], [PASSED], [FAILED]])
def test_a_judge_that_abstains_is_no_number_whatever_the_rules_say(rules: list[Verdict]) -> None:
    found = verif_reward(rules, SOFT, [unknown()] * 2)
    assert (found.status, found.value, found.reason) == ("abstained", None, "known_weight")


@pytest.mark.parametrize("reason", list(UnknownReason))
def test_no_reason_turns_into_a_number(reason: UnknownReason) -> None:
    assert verif_reward([unknown(reason, "rule")], SOFT, [MET, MET], min_known_weight=1e-9).value is None
    assert verif_reward([PASSED], SOFT, [unknown(reason)] * 2, min_known_weight=1e-9).value is None


def test_the_points_weigh_the_judges_lines_and_not_the_checks() -> None:
    found = verif_reward([PASSED, FAILED], [llm("a", 3), llm("b", 1)], [MET, UNMET])
    assert found.value == pytest.approx(0.5 * 0.75)


def test_probabilities_count_where_they_are_asked_for() -> None:
    verdicts = [known(0.8), known(0.4)]
    assert verif_reward([], SOFT, verdicts, "probability").value == pytest.approx(0.6)
    assert verif_reward([], SOFT, verdicts, "binary").value == pytest.approx(0.5)


def test_rows_that_define_no_such_reward() -> None:
    with pytest.raises(ContractError, match="neither a rule nor a constraint") as caught:
        verif_reward([], [], [], where="row r7")
    assert "row r7" in str(caught.value)
    with pytest.raises(ContractError, match="'is rude' is a penalty"):
        verif_reward([PASSED], [llm("is kind"), llm("is rude", -1)], [MET, UNMET])
    with pytest.raises(ContractError, match="row r7"):
        check_no_penalty([llm("is rude", -1)], "row r7")
    with pytest.raises(ContractError, match="1 verdicts for 2 criteria"):
        verif_reward([], SOFT, [MET])


CHECK = st.sampled_from([PASSED, FAILED, BROKEN])
JUDGED = st.one_of(st.floats(0, 1).map(known), st.sampled_from(list(UnknownReason)).map(unknown))
LINES = st.lists(st.tuples(st.integers(1, 10), JUDGED), max_size=6)


@given(st.lists(CHECK, max_size=8), LINES, st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_the_formula_in_fractions(rules: list[Verdict], lines: list[tuple[int, Verdict]], least: Fraction) -> None:
    if not rules and not lines:
        return
    criteria = [llm(f"line {number}", points) for number, (points, _) in enumerate(lines)]
    found = verif_reward(rules, criteria, [verdict for _, verdict in lines], "probability", float(least))
    held = [verdict.probability for verdict in rules if verdict.status is not VerdictStatus.UNKNOWN]
    judged = [(points, Fraction(v.probability)) for points, v in lines if v.probability is not None]
    weight, whole = sum(points for points, _ in judged), sum(points for points, _ in lines)
    enough = (not rules or Fraction(len(held), len(rules)) >= least) and (not lines or Fraction(weight, whole) >= least)
    if not enough:
        assert (found.status, found.value) == ("abstained", None)
        assert found.reason in ("rules_unknown", "known_weight")
        return
    hard = Fraction(sum(map(Fraction, held)), len(held)) if rules else Fraction(1)
    soft = sum(points * p for points, p in judged) / weight if lines else Fraction(1)
    assert found.value == pytest.approx(float(hard * soft), abs=1e-12)
    assert 0.0 <= found.value <= 1.0


@given(st.lists(st.sampled_from([PASSED, FAILED]), min_size=1, max_size=8), st.integers(1, 5), st.booleans())
def test_one_verdict_over_all_is_that_verdict_whatever_the_points(rules: list[Verdict], lines: int, met: bool) -> None:
    """The protocol verif gives every line the same verdict."""
    criteria = [llm(f"line {number}", 1 + number) for number in range(lines)]
    found = verif_reward(rules, criteria, [MET if met else UNMET] * lines)
    assert found.value == pytest.approx(rules.count(PASSED) / len(rules) if met else 0.0)
