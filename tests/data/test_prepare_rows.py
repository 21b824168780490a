"""The step prepare-data on rows with rubrics and on rows with checkers."""

import json
from pathlib import Path

import pytest

from components.core.contracts import PROMPTS, read_table
from components.core.errors import ConfigError, ContractError
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.data.step import STEP
from components.judge.rubrics import read_rubric
from components.scaffold.message import scaffold_message, with_scaffold

DATASETS = Path(__file__).resolve().parents[2] / "configs" / "datasets"


def prepare(experiment: Experiment, folder: Path) -> dict[str, object]:
    out = folder / "out"
    out.mkdir(parents=True)
    return dict(STEP.run(StepContext(experiment, {}, {}, out, folder, "id", Progress("prepare-data"), state=folder)))


def rows(folder: Path) -> list[dict]:
    return [
        row
        for split in ("train", "heldout")
        for row in read_table(folder / "out" / f"{split}.parquet", PROMPTS).to_pylist()
    ]


def summary(folder: Path) -> dict:
    return json.loads((folder / "out" / "data.json").read_text())


def rubric_file(folder: Path, turns=None, count=8, **more) -> str:
    """An experiment's data with ``count`` rows of its own."""
    path = folder / "mine.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "prompt": [*(turns or []), {"role": "user", "content": f"Write about {number}."}],
                    "reward_model": {"rubrics": [{"criterion": "It is kind.", "points": 1, "tags": []}]},
                    **more,
                }
            )
            + "\n"
            for number in range(count)
        )
    )
    return f"data={{name: mine, kind: rubric_rows, path: '{path}', train_rows: 4, heldout_rows: 4}}"


def test_the_small_rubric_rows(tmp_path):
    returned = prepare(load_experiment("tiny", ["data=small-rubric"]), tmp_path)
    assert returned == {"train_rows": 16, "heldout_rows": 8, "source": "rubric_rows"}
    found = rows(tmp_path)
    assert len({row["extra_info"]["id"] for row in found}) == 24
    assert {row["reward_model"]["ground_truth"] for row in found} == {"null"}
    assert all(2 <= len(read_rubric(row["extra_info"]["rubric"])) <= 5 for row in found)
    told = summary(tmp_path)
    assert (told["licence"], told["origin"], told["gold"]) == ("MIT", "written for this project", None)
    assert told["file"]["counts"] == {"rows_in_file": 24}
    assert told["file"]["data_sources"] == {"small_rubric": 24}
    assert told["file"]["evaluation_benchmarks"] == {}
    lines = [told["files"][name]["criteria_lines"] for name in ("train.parquet", "heldout.parquet")]
    given = [json.loads(line) for line in (DATASETS / "small-rubric.jsonl").read_text().splitlines()]
    points = [line["points"] for row in given for line in row["reward_model"]["rubrics"]]
    assert sum(part["all"] for part in lines) == len(points)
    assert sum(part["penalties"] for part in lines) == sum(value < 0 for value in points) > 0
    assert sum(part["rule"] for part in lines) > 0
    assert (min(part["points_min"] for part in lines), max(part["points_max"] for part in lines)) == (
        min(points),
        max(points),
    )
    turns = [told["files"][name]["turns"] for name in told["files"]]
    assert sum(part.get("3", 0) for part in turns) == 2
    assert sum(part["1"] for part in turns) == 22


@pytest.mark.parametrize(
    ("constraints", "derive"),
    [("own", "false"), ("own", "true"), ("all_to_judge", "false"), ("soft_only", "false"), ("soft_only", "true")],
)
def test_the_small_checkers(tmp_path, constraints, derive):
    given = [json.loads(line) for line in (DATASETS / "small-verif.jsonl").read_text().splitlines()]
    kinds = [checker.partition("]")[0] for row in given for checker in row["checkers"]]
    overrides = ["data=small-verif", f"data.constraints={constraints}", f"data.rubric_from_checkers={derive}"]
    experiment = load_experiment("tiny", overrides)
    prepare(experiment, tmp_path)
    found = [line for row in rows(tmp_path) for line in read_rubric(row["extra_info"]["rubric"])]
    rules = [line for line in found if line.verifier == "rule"]
    assert len(rules) == (kinds.count("[rule") if constraints == "own" else 0)
    assert all(line.rule is not None and line.rule.name == "python" for line in rules)
    expected = {"own": len(kinds), "all_to_judge": len(kinds), "soft_only": kinds.count("[llm")}[constraints]
    assert len(found) == expected
    told = summary(tmp_path)
    assert (told["file"]["constraints"], told["file"]["rubric_from_checkers"]) == (constraints, derive == "true")
    assert told["file"]["counts"]["functions_without_check_following"] == 0


def test_the_functions_of_the_small_checkers_do_what_their_texts_say():
    """Ours, and so safe to run here: each accepts one of two texts and refuses the other."""
    texts = {
        "At least": ("word " * 30, "one"),
        "At most": ("one", "word " * 60),
        "Use no commas": ("one two", "one, two"),
        "Use the word": ("green night sand station", "nothing"),
        "End with a full stop": ("Yes. ", "Yes"),
        "End with an exclamation mark": ("Yes!", "Yes."),
        "End with a question mark": ("Yes?", "Yes!"),
        "Write one paragraph": ("a\nb", "a\n\nb"),
        "Write two paragraphs": ("a\n \nb", "a b"),
    }
    seen = set()
    for row in (json.loads(line) for line in (DATASETS / "small-verif.jsonl").read_text().splitlines()):
        assert 1 <= len(row["checkers"]) == len(row["functions"]) <= 5
        for checker, function in zip(row["checkers"], row["functions"], strict=True):
            kind = next((kind for kind in texts if f": {kind}" in checker), None)
            if checker.startswith("[llm]"):
                continue
            assert kind is not None, checker
            seen.add(kind)
            scope: dict = {}
            exec(function, scope)
            good, bad = texts[kind]
            assert (scope["check_following"]("", good), scope["check_following"]("", bad)) == (True, False), checker
    assert seen == set(texts)


def test_the_scaffold_shows_the_lines_of_judge_and_rules(tmp_path):
    prepare(load_experiment("tiny", ["data=small-verif"]), tmp_path)
    row = next(row for row in rows(tmp_path) if "lamp" in row["extra_info"]["question"])
    message = scaffold_message(read_rubric(row["extra_info"]["rubric"]), secret=False)
    assert message is not None
    assert "Content: Tell where the lamp stands. (1 point)" in message
    assert "Punctuation: End with a full stop. (1 point)" in message
    assert "def check_following" not in message
    assert with_scaffold(row["prompt"], message)[0] == {"role": "system", "content": message}


def test_a_scaffold_of_a_row_without_any_line_is_no_silence(tmp_path):
    path = tmp_path / "verif.jsonl"
    row = {"checkers": ["[rule] Digit: 3 words."], "functions": ["def check_following(i, r):\n    return True\n"]}
    path.write_text("".join(json.dumps({"prompt": f"Say {number}.", **row}) + "\n" for number in range(8)))
    data = f"data={{name: v, kind: verif_rows, path: '{path}', train_rows: 4, heldout_rows: 4, constraints: soft_only}}"
    experiment = load_experiment("tiny", [data, "training.scaffold={decay: linear}"])
    with pytest.raises(ContractError, match="8 of 8 rows cannot be used") as caught:
        prepare(experiment, tmp_path)
    assert "line 1: the row has no constraint that the judge could decide" in caught.value.what


def test_a_conversation_is_the_prompt_and_the_question_is_its_text(tmp_path):
    turns = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Yes?"}]
    prepare(load_experiment("tiny", [rubric_file(tmp_path, turns), "policy.system_prompt=Be brief."]), tmp_path)
    row = rows(tmp_path)[0]
    last = row["prompt"][-1]
    assert row["prompt"] == [{"role": "system", "content": "Be brief."}, *turns, last]
    assert row["extra_info"]["question"] == (
        f"Turn 1, user:\n    Hello.\n\nTurn 2, assistant:\n    Yes?\n\nTurn 3, user:\n    {last['content']}"
    )


def test_a_rows_own_system_turn_stays_in_front_and_tolerates_no_other(tmp_path):
    data = rubric_file(tmp_path, [{"role": "system", "content": "Rhyme."}])
    prepare(load_experiment("tiny", [data, "policy.system_prompt=null"]), tmp_path)
    found = rows(tmp_path)
    assert all(row["prompt"][0] == {"role": "system", "content": "Rhyme."} for row in found)
    assert all(row["extra_info"]["question"] == row["prompt"][1]["content"] for row in found)
    with pytest.raises(ConfigError, match="begins with a system turn") as caught:
        prepare(load_experiment("tiny", [data, "policy.system_prompt=Be brief."]), tmp_path / "both")
    assert "policy.system_prompt: null" in caught.value.remedy


def test_hidden_checks_may_be_given_to_rows_of_a_file(tmp_path):
    data = rubric_file(tmp_path)
    prepare(load_experiment("tiny", [data]), tmp_path / "a")
    prepare(load_experiment("tiny", [data, "data.gold={word_list: animals}"]), tmp_path / "b")
    without, checked = rows(tmp_path / "a"), rows(tmp_path / "b")
    assert {row["reward_model"]["ground_truth"] for row in without} == {"null"}
    assert {json.loads(row["reward_model"]["ground_truth"])["word_list"] for row in checked} == {"animals"}
    assert not {row["extra_info"]["id"] for row in without} & {row["extra_info"]["id"] for row in checked}
    assert summary(tmp_path / "b")["files"]["train.parquet"]["rows_with_gold"] == 4


def test_a_benchmark_is_refused_and_where_allowed_it_is_written_down(tmp_path):
    data = rubric_file(tmp_path, data_source="healthbench")
    with pytest.raises(ConfigError, match="8 of 8 rows are from HealthBench"):
        prepare(load_experiment("tiny", [data]), tmp_path / "refused")
    prepare(load_experiment("tiny", [data, "data.allow_benchmark=true"]), tmp_path / "allowed")
    assert summary(tmp_path / "allowed")["file"]["evaluation_benchmarks"] == {"HealthBench": 8}


def test_many_criteria_are_counted_and_not_listed(tmp_path):
    path = tmp_path / "many.jsonl"
    lines = [[{"criterion": f"Names thing {row}-{number}.", "points": 1} for number in range(20)] for row in range(8)]
    path.write_text(
        "".join(
            json.dumps({"prompt": f"Write about {row}.", "reward_model": {"rubrics": rubric}}) + "\n"
            for row, rubric in enumerate(lines)
        )
    )
    data = f"data={{name: many, kind: rubric_rows, path: '{path}', train_rows: 4, heldout_rows: 4}}"
    prepare(load_experiment("tiny", [data]), tmp_path)
    assert summary(tmp_path)["criteria"] == "160 different texts, see the rubrics"
