"""The published files, with figures counted in them by other code; skipped where they are not at hand.

They lie in ``shared/data`` beside the checkout, or where the variable GAVEL_TEST_DATA says.
"""

import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from components.core.progress import Progress
from components.core.spec import load_experiment
from components.data.mixture.formats import competition_math, gsm8k, hotpotqa, humaneval, mbpp, squad2
from components.data.mixture.prepare import prepare_mixture
from components.data.mixture.records import read_records
from components.data.mixture.words import ngrams, normalised
from components.tasks.boxes import last_boxed
from components.tasks.gold import QaGold

FOLDER = Path(os.environ.get("GAVEL_TEST_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")


def path_of(name: str) -> Path:
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not in {FOLDER.name}: set GAVEL_TEST_DATA to the folder that holds it")
    return path


def rows_of(parse, name, part="train"):
    path = path_of(name)
    return [parse(value, part) for _, value in read_records(path, path.name)]


def test_gsm8k_golds_all_carry_the_marker():
    rows = [*rows_of(gsm8k.parse, "gsm8k_test.jsonl"), *rows_of(gsm8k.parse, "gsm8k_train_first2000.jsonl")]
    assert len(rows) == 3319
    assert all("." not in row.answer for row in rows)


def test_math_500_answers_are_the_boxed_ones():
    path = path_of("math500.jsonl")
    values = [json.loads(line) for line in path.read_text().splitlines()]
    parsed = [competition_math.parse(value, "test") for value in values]
    assert [row.answer for row in parsed] == [value["answer"].strip() for value in values]
    assert {row.part for row in parsed} == {"test"}
    assert len(parsed) == 500


def test_every_math_training_row_has_a_boxed_answer():
    names = sorted(path.name for path in path_of("math_train_sample").glob("*.jsonl"))
    rows = [row for name in names for row in rows_of(competition_math.parse, f"math_train_sample/{name}")]
    assert len(rows) == 1050
    assert all(last_boxed(rf"\boxed{{{row.answer}}}") == row.answer for row in rows)


def test_squad2_half_has_its_unanswerable_questions():
    path = path_of("squad2_dev_half.json")
    rows = [squad2.parse(value, "test") for _, value in squad2.read(path, path.name)]
    assert (len(rows), sum(row.gold == QaGold("squad2", ()) for row in rows)) == (6078, 3168)
    # A constant "no answer" is right where there is none: 52.12.
    assert round(100 * 3168 / 6078, 2) == 52.12
    assert len({row.group for row in rows}) == 16
    assert len({row.official_id for row in rows}) == 6078
    assert all(row.context for row in rows)


def test_hotpotqa_sample_keeps_contexts_and_facts():
    rows = rows_of(hotpotqa.parse, "hotpotqa_validate.jsonl")
    assert len(rows) == 200
    assert sum(row.answer in (("yes",), ("no",)) for row in rows) == 20
    assert all(isinstance(row.gold, QaGold) and row.gold.supporting and row.group for row in rows)
    # Paragraphs are apart by an empty line: 4 rows have fewer than ten.
    assert sum(len(re.findall(r"\n\[0\] ", f"\n{row.context}")) < 10 for row in rows) == 4


def repeated(rows, key):
    groups = defaultdict(list)
    for row in rows:
        groups[key(row.text)].append(int(row.official_id))
    return sorted(ids for ids in groups.values() if len(ids) > 1)


def test_code_sets_are_whole_and_mbpp_repeats_itself():
    assert len(rows_of(humaneval.parse, "HumanEval.jsonl.gz")) == 164
    rows = rows_of(mbpp.parse, "mbpp.jsonl", "any")
    assert Counter(row.part for row in rows) == {"test": 500, "train": 474}
    equal = [[76, 347], [216, 872], [217, 602], [248, 704]]
    assert repeated(rows, normalised) == equal
    # A coarser comparison, of ASCII letters and digits alone, takes a sum of cubes for one of squares.
    assert repeated(rows, lambda text: re.sub(r"[^a-z0-9]+", " ", text.lower())) == [*equal, [931, 935]]
    sanitized = rows_of(mbpp.parse, "sanitized-mbpp.json", "any")
    assert Counter(row.part for row in sanitized) == {"test": 257, "train": 170}


def test_runs_of_words_that_gsm8k_shares():
    train = [row.text for row in rows_of(gsm8k.parse, "gsm8k_train_first2000.jsonl")]
    test = [row.text for row in rows_of(gsm8k.parse, "gsm8k_test.jsonl")]

    def words(text: str) -> list[str]:
        return re.findall(r"[^\W_]+", text.lower())

    for length in (8, 10, 13):
        mine, _ = ngrams(train, length)
        theirs, owners = ngrams(test, length)
        shared = len(set(owners[np.isin(theirs, mine)].tolist()))
        known = {tuple(w[i : i + length]) for w in map(words, train) for i in range(len(w) - length + 1)}
        plain = sum(
            any(tuple(w[i : i + length]) in known for i in range(len(w) - length + 1)) for w in map(words, test)
        )
        assert shared == plain, length


def test_the_whole_mixture_is_prepared(tmp_path):
    names = sorted(path_of("math_train_sample").glob("*.jsonl"))

    def given(*files: str) -> list[dict[str, str]]:
        return [{"path": str(path_of(name))} for name in files]

    sources = {
        "gsm8k": {"train": given("gsm8k_train_first2000.jsonl"), "test": given("gsm8k_test.jsonl")},
        "math": {"train": [{"path": str(path)} for path in names], "test": given("math500.jsonl")},
        "squad2": {"train": given("squad2_dev_half.json")},
        "hotpotqa": {"train": given("hotpotqa_validate.jsonl")},
        "humaneval": {"test": given("HumanEval.jsonl.gz")},
        "mbpp": {"all": given("mbpp.jsonl")},
    }
    data = {"name": "mixed", "kind": "mixture", "heldout_rows": 200, "mixture": {"sources": sources}}
    experiment = load_experiment("tiny", [f"data={json.dumps(data)}", "reward=rule-only"])
    out, work = tmp_path / "out", tmp_path / "work"
    out.mkdir()
    prepare_mixture(experiment, out, work, Progress("prepare-data"))
    info = json.loads((out / "info.json").read_text())
    assert info["rows"]["test"] == {"gsm8k": 1319, "math": 500, "humaneval": 164, "mbpp": 500}
    # 217/602, 216/872 and 248/704 are the pairs across MBPP's parts, 204/666 and 309/924 those but for articles,
    # "given" and "python"; 76/347 is the one within its tests.
    assert info["duplicates"]["exact"]["across_left_out_of_train"]["sets"] == {"mbpp": 5}
    assert info["duplicates"]["exact"]["within_test_kept"]["sets"] == {"mbpp": 1}
    assert info["contaminated"] == {}
    assert "humaneval" not in info["rows"]["train"]
