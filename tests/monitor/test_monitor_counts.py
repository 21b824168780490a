"""Counts, shares, intervals and costs, worked out by hand."""

import csv
import io
import json
from pathlib import Path

import pytest
from training_files import ANSWERS, Answer, Work, abstained, experiment, failed, invalid, right, wrong

from components.monitor.analysis import analyse, step_ranges
from components.monitor.estimate import estimate
from components.monitor.samples import UNKNOWN_OPERATOR, Outcome, Sample, domains_of
from components.monitor.section import Measure, Section
from components.monitor.tally import by_domain, mean_parts, reasons, tally
from components.monitor.work import WorkFolder


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    return samples_of(tmp_path, ANSWERS)


def samples_of(state: Path, answers: tuple[Answer, ...], *, workflows: bool = True) -> list[Sample]:
    work = Work(state, experiment())
    work.begin()
    work.answer(*answers, workflows=workflows)
    return list(WorkFolder(work.folder).look().samples)


def test_the_eight_responses(samples: list[Sample]) -> None:
    found = tally(samples)
    assert (found.responses, found.prompts, found.groups, found.abstained, found.cut) == (8, 4, 4, 1, 1)
    assert (found.right, found.scored, found.valid, found.checked) == (3, 7, 6, 8)
    # m1 with 0.9 and -1, q1 with -0.6 and -1; m2 has twice the same, c1 one known.
    assert found.varied == 2
    assert found.reward == pytest.approx((3 * 0.9 - 0.6 - 3.0) / 7)


def test_domains_apart(samples: list[Sample]) -> None:
    assert domains_of(samples) == ["math", "qa", "code"]
    split = {name: tally(mine) for name, mine in by_domain(samples, domains_of(samples)).items()}
    assert [(split[name].right, split[name].scored) for name in ("all", "math", "qa", "code")] == [
        (3, 7),
        (3, 4),
        (0, 2),
        (0, 1),
    ]
    assert [(split[name].valid, split[name].checked) for name in ("math", "qa", "code")] == [(3, 4), (2, 2), (1, 2)]


def test_what_was_spent_counts_for_every_answer(samples: list[Sample]) -> None:
    spent = tally(samples).costs
    assert (spent.workflows, spent.calls, spent.tokens, spent.right) == (6, 7, 1250, 3)
    assert spent.seconds == 11.5
    assert spent.each(spent.tokens) == pytest.approx(1250 / 6)
    assert spent.per_right(spent.tokens) == pytest.approx(1250 / 3)
    assert spent.money is None
    assert spent.per_right(spent.money) is None


def test_money_is_known_where_every_executed_workflow_has_a_price(tmp_path: Path) -> None:
    priced = (
        right(1, "m1", 0, operators=("Custom",), money=0.25),
        failed(1, "m1", 1, operators=("Custom",), money=0.5),
    )
    assert tally(samples_of(tmp_path / "a", (*priced, invalid(1, "q1", 0)))).costs.money == 0.75
    mixed = (*priced, wrong(1, "q1", 0, operators=("Custom",)))
    assert tally(samples_of(tmp_path / "b", mixed)).costs.money is None


def test_reasons_are_counted_and_abstentions_are_none_of_the_policys(samples: list[Sample]) -> None:
    assert reasons(samples) == {
        "invalid:no_code": 1,
        "invalid:syntax": 1,
        "failed:exception": 1,
        "abstained:judge_down": 1,
    }


def test_an_answer_that_nobody_could_check_abstained(tmp_path: Path) -> None:
    unknown = Answer(1, "m1", 0, "answered", "not_scored", None, None, operators=("Custom",))
    (found,) = samples_of(tmp_path, (unknown,))
    assert (found.valid, found.right) == (1.0, None)
    assert reasons([found]) == {"abstained:not_scored": 1}


def test_where_the_sandbox_failed_nothing_is_known_of_validity(tmp_path: Path) -> None:
    found = tally(samples_of(tmp_path, (abstained(1, "m1", 0, "sandbox", source=None), right(1, "m1", 1))))
    assert (found.valid, found.checked) == (1, 1)


def test_parts_are_means_over_scored_answers(samples: list[Sample]) -> None:
    # Three right ones and a wrong one.
    assert mean_parts(samples) == pytest.approx(
        {
            "correctness": (3 * 0.65 - 0.65) / 4,
            "efficiency": 0.075,
            "simplicity": 0.075,
            "format": 0.05,
            "repetition": 0.0,
        }
    )


def test_a_run_without_workflows_has_no_such_counts(tmp_path: Path) -> None:
    found = samples_of(tmp_path, ANSWERS, workflows=False)
    assert domains_of(found) == ["math", "qa", "code"]
    counted = tally(found)
    assert (counted.checked, counted.scored, counted.costs.workflows, counted.abstained) == (0, 0, 0, 1)
    assert {section.key for section in analyse(found)} == {"domains", "ranges", "reasons"}


def test_a_prompt_counts_once(tmp_path: Path) -> None:
    answers = (right(1, "m1", 0), right(1, "m1", 1), right(1, "m1", 2), right(1, "m1", 3), wrong(1, "q1", 0))
    found = estimate(samples_of(tmp_path, answers), lambda sample: sample.right)
    assert (found.value, found.n, found.prompts, found.unknown) == (0.5, 5, 2, 0)


def test_what_never_happened_has_wilsons_interval(tmp_path: Path) -> None:
    found = estimate(
        samples_of(tmp_path, (wrong(1, "m1", 0), wrong(1, "m2", 0), wrong(1, "q1", 0), wrong(1, "c1", 0))),
        lambda sample: sample.right,
    )
    # Wilson: 1.96² / (4 + 1.96²).
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(3.8415 / 7.8415, abs=1e-4)


def test_one_prompt_has_no_interval(tmp_path: Path) -> None:
    found = estimate(samples_of(tmp_path, (right(1, "m1", 0), wrong(1, "m1", 1))), lambda sample: sample.right)
    assert (found.value, found.low, found.high) == (0.5, None, None)


@pytest.mark.parametrize(
    ("steps", "ranges", "expected"),
    [
        ([1, 2, 3, 4, 5], 2, [[1, 2], [3, 4, 5]]),
        ([7], 4, [[7]]),
        ([1, 2, 9], 3, [[1], [2], [9]]),
        ([1, 2, 3, 4], 1, [[1, 2, 3, 4]]),
    ],
)
def test_ranges_of_steps(steps: list[int], ranges: int, expected: list[list[int]]) -> None:
    assert step_ranges(steps, ranges) == expected


def rows(section: Section) -> list[tuple[object, ...]]:
    return [tuple(cell.estimate.value if isinstance(cell, Measure) else cell for cell in row) for row in section.rows]


def test_the_analysis(samples: list[Sample]) -> None:
    found = {section.key: section for section in analyse(samples, ranges=2)}
    # Means of the means of prompts: math (0.5 + 1) / 2; all (0.5 + 1 + 0 + 0) / 4.
    shares = {row[0]: (row[1], row[3], row[4]) for row in rows(found["domains"])}
    assert shares == {"all": (8, 0.375, 0.75), "math": (4, 0.75, 0.75), "qa": (2, 0.0, 1.0), "code": (2, 0.0, 0.5)}
    ranges = [(row[0], row[1], row[2], row[3]) for row in rows(found["ranges"])]
    assert ranges == [
        ("1", "all", 4, 0.25),
        ("1", "math", 2, 0.5),
        ("1", "qa", 2, 0.0),
        ("2", "all", 4, 0.5),
        ("2", "math", 2, 1.0),
        ("2", "code", 2, 0.0),
    ]
    assert ("qa", "failed:exception", 1, 0.5) in rows(found["reasons"])
    operators = {(row[0], row[1]): row[2:] for row in rows(found["operators"])}
    # Of the five that ran to an end of their own, four called Custom: right, wrong, failed, right.
    assert operators["all", "Custom"] == (4, pytest.approx((1 + 1 + 0.5) / 3), 1.0, pytest.approx((1 + 0 + 1) / 3))
    assert operators["qa", "ScEnsemble"] == (1, 0.5, 1.0, 0.0)
    costs = {row[0]: row for row in rows(found["cost"])}
    assert costs["math"] == ("math", 3, 1.0, pytest.approx(700 / 3), 2.0, None, 3, pytest.approx(700 / 3), 2.0, None)
    assert costs["qa"][6:] == (0, None, None, None)


def test_what_a_program_calls_and_is_no_operator_is_not_shown() -> None:
    """It would be obeyed by the terminal, and every new name would have a row of its own."""
    calls = [
        {"operator": "Custom", "error": None},
        {"operator": "\x1b[2J", "error": "budget.calls: 21 calls of operators of 20 allowed"},
        {"operator": "Nothing", "error": "unknown_operator: there is no operator Nothing"},
        {"operator": "x" * 1000, "error": "not finished"},
    ]
    row = {"status": "failed", "source": "5", "reason": "failed:budget", "right": None, "calls": 4, "tokens": 0}
    outcome = Outcome.of({**row, "seconds": 0.0, "money": None, "trace": json.dumps(calls)})
    assert outcome.operators == ("Custom", UNKNOWN_OPERATOR, UNKNOWN_OPERATOR, UNKNOWN_OPERATOR)


def test_tables_as_csv_have_every_number(samples: list[Sample]) -> None:
    (section,) = [each for each in analyse(samples) if each.key == "domains"]
    read = list(csv.DictReader(io.StringIO(section.csv())))
    assert [row["domain"] for row in read] == ["all", "math", "qa", "code"]
    assert float(read[0]["right"]) == 0.375
    assert 0 <= float(read[0]["right_low"]) < 0.375 < float(read[0]["right_high"]) <= 1
    assert (read[3]["right_low"], read[3]["right_prompts"]) == ("", "1")


def test_tables_as_text_line_up(samples: list[Sample]) -> None:
    (section,) = [each for each in analyse(samples) if each.key == "domains"]
    title, header, *lines = section.text().splitlines()
    assert title == "By domain, with 95 % intervals"
    assert header.split()[:3] == ["domain", "responses", "prompts"]
    assert lines[1].startswith("math            4        2  75.0 % [50.0 to 100.0]")
