"""Files of rows in the data's specification."""

from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.spec.load import load_experiment

RULE = "{text: is short, verifier: rule, rule: {name: word_count_range, min_count: 1, max_count: 9}}"
SMALL = ["data=small-verif"]


@pytest.mark.parametrize(
    ("key", "words", "overrides"),
    [
        ("data.path", "kind rubric_rows reads a file, and path is null", ["data=small-rubric", "data.path=null"]),
        ("data.path", "kind verif_rows reads a file, and path is null", [*SMALL, "data.path=null"]),
        ("data.criteria", "bring their own rubric with kind verif_rows", [*SMALL, "data.criteria=[{text: be kind}]"]),
        ("data.constraints", "no effect with kind rubric_rows", ["data=small-rubric", "data.constraints=soft_only"]),
        ("data.constraints", "no effect with kind sentences", ["data.constraints=soft_only"]),
        ("data.rubric_from_checkers", "no effect with kind sentences", ["data.rubric_from_checkers=true"]),
        ("data.allow_benchmark", "no effect with kind verif_rows", [*SMALL, "data.allow_benchmark=true"]),
        ("data.gold", "null: nothing would check what the judge says", ["data.gold=null"]),
        ("data.criteria", "no criterion is left to the judge", [f"data.criteria=[{RULE}]"]),
    ],
)
def test_impossible_data(refused: Callable[..., str], key: str, words: str, overrides: list[str]) -> None:
    message = refused(*overrides)
    headline, where, remedy = message.split("\n")
    assert headline.startswith(f"{key}: ")
    assert words in headline
    assert where.strip().startswith("where:")
    assert len(remedy.strip()) > len("remedy:")


def test_a_rule_only_rubric_is_fine_where_no_judge_is_asked() -> None:
    experiment = load_experiment("tiny", [f"data.criteria=[{RULE}]", "reward=rule-only"])
    assert [line.verifier for line in experiment.data.criteria] == ["rule"]


def test_hidden_checks_are_optional_for_files(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"prompt": "Hello."}\n')
    for kind in ("jsonl", "rubric_rows", "verif_rows"):
        data = f"data={{name: d, kind: {kind}, path: '{path}', train_rows: 8, heldout_rows: 8}}"
        experiment = load_experiment("tiny", [data])
        assert experiment.data.gold is None
        assert experiment.data.sha256 is not None


def test_who_decides_counts_for_the_identity_of_the_rows() -> None:
    plain = load_experiment("tiny", SMALL).data_identity()
    for override in ("data.constraints=soft_only", "data.rubric_from_checkers=true"):
        assert load_experiment("tiny", [*SMALL, override]).data_identity() != plain


def test_the_studys_files_are_the_users_to_give() -> None:
    for name in ("verinstruct-rubric", "verinstruct-verif"):
        data = load_experiment("tiny", [f"data={name}"]).data
        assert str(data.path).startswith("s3://")
        assert (data.train_rows, data.sha256, data.gold) == (350 * 64, None, None)
