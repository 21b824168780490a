"""Every gold of the published files against itself; skipped where the files are not at hand (GAVEL_TEST_DATA)."""

import json
import os
from pathlib import Path

import pytest

from components.tasks.answers import Place, math_answer
from components.tasks.boxes import last_boxed
from components.tasks.gold import QaGold
from components.tasks.notation import same, values
from components.tasks.score import question_score
from components.tasks.squad import normalise

FOLDER = Path(os.environ.get("GAVEL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def path_of(name):
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not in {FOLDER.name}: set GAVEL_TEST_DATA to the folder that holds it")
    return path


def rows(name):
    return [json.loads(line) for line in path_of(name).read_text(encoding="utf-8").split("\n") if line.strip()]


@pytest.mark.parametrize(("name", "count"), [("gsm8k_test.jsonl", 1319), ("gsm8k_train_first2000.jsonl", 2000)])
def test_gsm8k_gold_against_itself(name, count):
    read = rows(name)
    assert len(read) == count
    for row in read:
        gold = row["answer"].rpartition("####")[2].strip()
        assert values(gold)
        found = math_answer(row["answer"], last_number=True)
        assert found.place is Place.MARKER
        assert same(gold, found.text) is True
        assert same(gold, rf"\boxed{{{gold}}}"[7:-1]) is True
        (value,) = values(gold)
        assert same(gold, str(value + 1)) is False


def test_math_gold_against_itself():
    folder = path_of("math_train_sample")
    read = [row for path in sorted(folder.glob("*.jsonl")) for row in rows(f"{folder.name}/{path.name}")]
    assert len(read) == 1050
    for row in read:
        found = math_answer(row["solution"])
        assert found.place is Place.BOX, row["solution"]
        gold = last_boxed(row["solution"])
        assert same(gold, found.text) is True
        # Spelled otherwise.
        assert same(gold, found.text.replace("\\frac", "\\dfrac").replace(" ", "  ")) is True, gold


def test_math_500_answers_against_the_boxes_of_their_solutions():
    read = rows("math500.jsonl")
    assert len(read) == 500
    wrong = [row["answer"] for row in read if same(row["answer"], math_answer(row["solution"]).text) is not True]
    assert wrong == []


def test_squad2_without_any_answer():
    data = json.loads(path_of("squad2_dev_half.json").read_text(encoding="utf-8"))["data"]
    questions = [qa for article in data for paragraph in article["paragraphs"] for qa in paragraph["qas"]]
    golds = [QaGold("squad2", tuple(answer["text"] for answer in qa["answers"])) for qa in questions]
    scores = [question_score(gold, "") for gold in golds]
    # 3,168 of 6,078 have no answer.
    assert len(scores) == 6078
    assert round(100 * sum(score.exact for score in scores) / len(scores), 2) == 52.12
    assert round(100 * sum(score.f1 for score in scores) / len(scores), 2) == 52.12
    assert all(
        question_score(gold, gold.answers[-1]).correct for gold in golds if gold.answers and normalise(gold.answers[-1])
    )


def test_hotpotqa_gold_against_itself():
    read = rows("hotpotqa_validate.jsonl")
    assert len(read) == 200
    for row in read:
        facts = tuple((title, number) for title, number in row["supporting_facts"])
        gold = QaGold("hotpotqa", (row["answer"],), facts)
        score = question_score(gold, row["answer"], facts[::-1])
        assert (score.correct, score.f1, score.joint_exact, score.joint_f1) == (True, 1.0, 1.0, 1.0)
        assert question_score(gold, row["answer"], None).joint_f1 == 0.0
