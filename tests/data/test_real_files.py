"""Every row of the published files; they are no part of the project, so where they are not at hand this is skipped.

They lie in ``shared/data`` beside the checkout, or where the variable GAVEL_TEST_DATA says. The expected figures were
counted in the files with other code.
"""

import os
from collections import Counter
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec import load_experiment
from components.data.benchmark import benchmark_of
from components.data.convert import convert
from components.data.reading import collect
from components.data.rubric_rows import read_rubric_rows
from components.data.step import load_items
from components.data.verif_rows import read_verif_rows

FOLDER = Path(os.environ.get("GAVEL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def path_of(name: str) -> Path:
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {FOLDER.name}: set GAVEL_TEST_DATA to the folder that holds it")
    return path


def content(name: str) -> bytes:
    return path_of(name).read_bytes()


def lines_of(items):
    return [line for item in items for line in item.criteria]


def test_healthbench_is_read_whole():
    reading = collect(read_rubric_rows(content("healthbench_val.parquet"), source="healthbench_val.parquet"))
    assert len(reading.items) == 500
    assert reading.data_sources == Counter(healthbench=500)
    assert reading.benchmarks == Counter(HealthBench=500)
    lines = lines_of(reading.items)
    # 5,965 criteria, of which one row has three twice.
    assert (len(lines), reading.counts["merged_criteria"]) == (5962, 3)
    assert reading.counts["rows_with_two_different_rubrics"] == 0
    assert all(line.verifier == "llm" for line in lines)
    axes = Counter(tag for line in lines for tag in line.tags if tag.startswith("axis:"))
    assert axes.total() == 5962
    assert set(axes) == {
        "axis:completeness",
        "axis:accuracy",
        "axis:context_awareness",
        "axis:communication_quality",
        "axis:instruction_following",
    }
    # The merged ones hold the sum: -7 twice and -8 twice; else points are from -10 to 10.
    assert Counter(line.points for line in lines if abs(line.points) > 10) == {-14.0: 2, -16.0: 1}
    penalties = sum(line.points < 0 for line in lines) + reading.counts["merged_criteria"]
    assert round(100 * penalties / 5965, 1) == 31.2
    turns = Counter(len(item.turns) or 1 for item in reading.items)
    assert turns == {1: 287, 3: 100, 5: 76, 7: 19, 9: 14, 11: 2, 15: 2}


def test_verinstruct_rubrics_are_read_whole():
    reading = collect(read_rubric_rows(content("verinstruct_rubric_val.parquet"), source="v.parquet"))
    assert (len(reading.items), len(lines_of(reading.items))) == (275, 1596)
    assert Counter(len(item.criteria) for item in reading.items).most_common(1) == [(6, 92)]
    assert {line.points for line in lines_of(reading.items)} == {1.0}
    assert {line.tags for line in lines_of(reading.items)} == {("source:verinstruct", "verifier:llm")}
    assert reading.benchmarks == Counter()


@pytest.mark.parametrize(
    ("constraints", "llm", "rule"), [("own", 1591, 399), ("all_to_judge", 1990, 0), ("soft_only", 1591, 0)]
)
def test_verinstruct_checkers_are_read_whole(constraints, llm, rule):
    found = read_verif_rows(content("verinstruct_verif_val.parquet"), source="v.parquet", constraints=constraints)
    reading = collect(found)
    verifiers = Counter(line.verifier for line in lines_of(reading.items))
    assert (len(reading.items), verifiers["llm"], verifiers["rule"]) == (274, llm, rule)
    assert reading.counts["functions_without_check_following"] == 0
    if constraints == "own":
        rules = Counter(sum(line.verifier == "rule" for line in item.criteria) for item in reading.items)
        assert rules == {0: 60, 1: 105, 2: 65, 3: 24, 4: 10, 5: 8, 6: 2}


def test_derived_rubrics_are_the_published_ones():
    published = {
        item.template: [line.text for line in item.criteria]
        for item in collect(read_rubric_rows(content("verinstruct_rubric_val.parquet"), source="r.parquet")).items
    }
    checkers = content("verinstruct_verif_val.parquet")
    found = read_verif_rows(checkers, source="v.parquet", constraints="soft_only", derive=True)
    derived = {row.item.template: [line.text for line in row.item.criteria] for row in found}
    # 274 of the 275 rows have their checkers published, and all 1,591 criteria of these agree, in their order.
    assert len(derived) == 274
    assert set(derived) < set(published)
    assert [prompt for prompt, texts in derived.items() if texts != published[prompt]] == []
    converted = convert(checkers, source="v.parquet", name="verinstruct", all_to_judge=False)
    assert (len(converted.rows), converted.criteria, list(converted.left_out)) == (274, 1591, [])


def test_the_benchmark_is_known_by_its_tags_alone():
    found = read_rubric_rows(content("healthbench_val.parquet"), source="h.parquet")
    assert [row.where for row in found if benchmark_of("renamed", row.item.criteria) != "HealthBench"] == []


def test_the_benchmark_is_not_trained_on_unless_that_is_said(tmp_path):
    path = path_of("healthbench_val.parquet")
    data = f"{{name: hb, kind: rubric_rows, path: '{path}', train_rows: 400, heldout_rows: 100}}"
    with pytest.raises(ConfigError, match="500 of 500 rows are from HealthBench") as caught:
        load_items(load_experiment("tiny", [f"data={data}"]))
    assert "data.allow_benchmark: true" in caught.value.remedy
    train, heldout, reading = load_items(load_experiment("tiny", [f"data={data}", "data.allow_benchmark=true"]))
    assert (len(train), len(heldout)) == (400, 100)
    assert reading is not None
    assert reading.benchmarks == Counter(HealthBench=500)
