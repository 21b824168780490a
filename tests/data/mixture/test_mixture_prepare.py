"""A mixture from its files to its tables, exports and card, on the small rows of our own and on rows made here."""

import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.contracts import PROMPTS, read_table
from components.core.errors import ConfigError, ContractError
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.data.mixture import reading, records
from components.data.mixture.decode import decode
from components.data.mixture.goldtext import gold_text
from components.data.mixture.rubric import Rubrics
from components.data.step import STEP
from components.judge.rubrics import read_rubric, rubric_json
from components.tasks.gold import CodeGold, MathGold, QaGold, parse_gold, to_json


def small(*changes: str) -> Experiment:
    return load_experiment("tiny", ("data=mixed-small", "reward=rule-only", *changes))


def mixture(sources: dict, *changes: str, **settings: object) -> Experiment:
    data = {"name": "mine", "kind": "mixture", "heldout_rows": 50, "mixture": {"sources": sources, **settings}}
    return load_experiment("tiny", (f"data={json.dumps(data)}", "reward=rule-only", *changes))


def prepare(experiment: Experiment, folder: Path) -> Path:
    out = folder / "out"
    out.mkdir(parents=True)
    STEP.run(StepContext(experiment, {}, {}, out, folder, "id", Progress("prepare-data"), state=folder))
    return out


def table(path: Path) -> list[dict]:
    return read_table(path, PROMPTS).to_pylist()


def loaded(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def lines(path: Path, rows: list[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def numbers(first: int, last: int) -> list[dict]:
    return [{"question": f"Count the {n} sheep.", "answer": f"There they are.\n#### {n}"} for n in range(first, last)]


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return prepare(small(), tmp_path_factory.mktemp("small"))


def test_rows_are_tasks_of_the_contract(out):
    rows = [*table(out / "train.parquet"), *table(out / "heldout.parquet")]
    assert {row["data_source"] for row in rows} == {"gsm8k", "math", "squad2", "hotpotqa", "mbpp"}
    for row in rows:
        gold = parse_gold(row["reward_model"]["ground_truth"])
        (line,) = read_rubric(row["extra_info"]["rubric"])
        assert row["reward_model"]["style"] == "task"
        assert (gold.dataset, line.verifier, line.points) == (row["data_source"], "rule", 1.0)
        assert line.rule is not None
        assert line.rule.to_json_value() == {
            "name": "task",
            "gold": row["reward_model"]["ground_truth"],
            "metric": "f1" if row["ability"] == "qa" else "exact",
        }
        assert rubric_json([line]) == row["extra_info"]["rubric"]
        assert row["prompt"][-1] == {"role": "user", "content": row["extra_info"]["question"]}
    assert any(parse_gold(row["reward_model"]["ground_truth"]) == QaGold("squad2", ()) for row in rows)


def test_no_test_and_no_group_is_in_training(out):
    train, heldout = table(out / "train.parquet"), table(out / "heldout.parquet")
    groups = [{row["extra_info"]["template"] for row in rows} for rows in (train, heldout)]
    assert not groups[0] & groups[1]
    trained = {row["extra_info"]["question"] for row in train}
    for path in (out / "tests").glob("*.parquet"):
        assert not trained & {row["extra_info"]["question"] for row in table(path)}
    assert [row["extra_info"]["index"] for row in train] == list(range(len(train)))


def test_tests_are_whole_and_the_mixed_one_keeps_the_shares(out):
    sizes = {path.stem: len(table(path)) for path in (out / "tests").glob("*.parquet")}
    assert {name: sizes[name] for name in sizes if name != "mixed"} == {
        "gsm8k": 12, "math": 18, "squad2": 15, "hotpotqa": 12, "humaneval": 40, "mbpp": 12,
    }  # fmt: skip
    mixed = table(out / "tests" / "mixed.parquet")
    # Two sets of 12 are the smallest in math, qa and code: 24 of each; 24 / 0.4 = 60 rows.
    assert Counter(row["ability"] for row in mixed) == {"math": 24, "qa": 18, "code": 18}
    assert Counter(row["data_source"] for row in mixed)["humaneval"] == 9
    assert len({row["extra_info"]["id"] for row in mixed}) == len(mixed)


def test_exports_have_the_rows_of_the_tables(out):
    index = loaded(out / "test_index.json")
    assert index["not_comparable"] is None
    for name, entry in index["tests"].items():
        rows = [json.loads(line) for line in (out / entry["jsonl"]["file"]).read_text().splitlines()]
        assert entry["jsonl"]["file"] == f"test_{name}.jsonl"
        assert [row["id"] for row in rows] == [row["extra_info"]["id"] for row in table(out / entry["parquet"]["file"])]
        assert entry["jsonl"]["sha256"] == hashlib.sha256((out / entry["jsonl"]["file"]).read_bytes()).hexdigest()
        assert {"problem", "answer", "type"} < set(rows[0])
    train = [json.loads(line) for line in (out / "train_mixed.jsonl").read_text().splitlines()]
    assert len(train) == len(table(out / "train.parquet"))
    assert {row["type"] for row in train} == {"math", "qa", "code"}


def test_info_and_card_say_what_was_done(out):
    info, draw = loaded(out / "info.json"), loaded(out / "draw.json")
    trained = Counter(row["data_source"] for row in table(out / "train.parquet"))
    assert {name: entry["rows"] for name, entry in draw["sets"].items()} == dict(trained)
    assert info["rows"]["train"] == dict(trained)
    for entry in info["inputs"]:
        path = Path("configs/datasets/mixed-small") / entry["source"]
        assert entry["sha256"] == hashlib.sha256((Path(__file__).parents[3] / path).read_bytes()).hexdigest()
    for name, each in info["epochs"]["sets"].items():
        assert each["effective_epochs"] == pytest.approx(each["drawn"] / trained[name], abs=1e-6)
    assert info["contaminated"] == {}
    card = (out / "data_card.html").read_text()
    assert card.count("<svg") == 3
    assert "http://" not in card.replace("http://www.w3.org", "")
    assert "https://" not in card


def test_same_inputs_and_seed_give_the_same_bytes(out, tmp_path):
    again = prepare(small(), tmp_path / "again")
    other = prepare(small("seed=99"), tmp_path / "other")
    names = sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())
    assert len(names) == 2 + 7 * 2 + 1 + 5
    for name in names:
        assert (out / name).read_bytes() == (again / name).read_bytes(), name
    assert (out / "train.parquet").read_bytes() != (other / "train.parquet").read_bytes()


def test_rows_in_another_order_go_where_they_went(tmp_path):
    rows = numbers(0, 60)
    found = []
    for name, given in (("a", rows), ("b", rows[::-1])):
        source = {"gsm8k": {"train": [{"path": lines(tmp_path / f"{name}.jsonl", given)}]}}
        folder = prepare(mixture(source, validation_share=0.3, weights={"qa": 0.0, "code": 0.0}), tmp_path / name)
        found.append({row["extra_info"]["id"] for row in table(folder / "train.parquet")})
    assert found[0] == found[1]
    assert 0 < len(found[0]) < 60


def test_duplicates_are_left_out_and_counted(tmp_path):
    told = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi"
    train = [
        *numbers(0, 40),
        {"question": "count   the 3 SHEEP.", "answer": "#### 3"},
        {"question": f"{told}?", "answer": "#### 1"},
    ]
    test = [
        *numbers(5, 7),
        {"question": f"Say {told} now.", "answer": "#### 1"},
        *numbers(900, 901),
        *numbers(900, 901),
    ]
    sources = {
        "gsm8k": {
            "train": [{"path": lines(tmp_path / "train.jsonl", train)}],
            "test": [{"path": lines(tmp_path / "test.jsonl", test)}],
        }
    }
    weights = {"qa": 0.0, "code": 0.0}
    out = prepare(mixture(sources, validation_share=0.2, weights=weights), tmp_path / "on")
    found = loaded(out / "info.json")["duplicates"]
    assert found["exact"]["within_train_left_out"]["all"] == 1
    assert found["exact"]["across_left_out_of_train"]["all"] == 2
    assert found["exact"]["within_test_kept"]["all"] == 1
    assert found["ngram"]["across_left_out_of_train"] == {"all": 1, "sets": {"gsm8k": 1}}
    rows = loaded(out / "info.json")["rows"]
    assert rows["train"]["gsm8k"] + rows["validation"]["gsm8k"] == 42 - 4
    assert rows["test"] == {"gsm8k": 5}
    assert len({row["extra_info"]["id"] for row in table(out / "tests" / "gsm8k.parquet")}) == 5
    off = mixture(sources, validation_share=0.2, weights=weights, dedup={"exact": False, "ngram": 0, "code_ast": False})
    rows = loaded(prepare(off, tmp_path / "off") / "info.json")["rows"]
    assert rows["train"]["gsm8k"] + rows["validation"]["gsm8k"] == 42


def test_a_materialised_mixture_has_the_shares_and_no_row_above_the_cap(tmp_path):
    change = ("data.mixture.draw=materialised", "data.mixture.total_rows=200", "data.mixture.repeat_cap=3")
    out = prepare(small(*change), tmp_path)
    rows = table(out / "train.parquet")
    assert Counter(row["ability"] for row in rows) == {"math": 80, "qa": 60, "code": 60}
    assert Counter(row["data_source"] for row in rows) == {
        "gsm8k": 40, "math": 40, "squad2": 30, "hotpotqa": 30, "mbpp": 60,
    }  # fmt: skip
    assert max(Counter(row["extra_info"]["id"] for row in rows).values()) == 3
    assert len((out / "train_mixed.jsonl").read_text().splitlines()) == 200
    assert len({row["data_source"] for row in rows[:40]}) > 2


def test_a_resplit_is_marked_and_lists_what_it_contaminates(tmp_path):
    out = prepare(small("data.mixture.split=resplit-5-1"), tmp_path)
    info = loaded(out / "info.json")
    assert "compares with published" in info["not_comparable"]
    assert loaded(out / "test_index.json")["not_comparable"] == info["not_comparable"]
    # 40 rows of HumanEval: 33 train and 7 test, less what validates.
    assert info["rows"]["test"]["humaneval"] == 7
    held = info["rows"]["validation"].get("humaneval", 0)
    left = sum(info["duplicates"][name][key]["sets"].get("humaneval", 0) for name in ("exact", "code_ast", "ngram")
               for key in ("within_train_left_out", "across_left_out_of_train"))  # fmt: skip
    assert len(info["contaminated"]["humaneval"]) == 33 - held - left
    assert all(name.startswith("Own/") for name in info["contaminated"]["humaneval"])
    assert "Not comparable" in (out / "data_card.html").read_text()


def test_limits_take_rows_by_their_hash(tmp_path):
    out = prepare(small("data.mixture.sources.gsm8k.limit=5", "data.mixture.validation_share=0.4"), tmp_path)
    rows = loaded(out / "info.json")["rows"]
    assert rows["test"]["gsm8k"] == 5
    assert rows["over_limit"]["gsm8k"] == (48 - 5) + (12 - 5)


def test_own_rows_and_a_system_prompt(tmp_path):
    sources = {
        "custom": {"train": [{"path": str(Path(__file__).parents[3] / "configs/datasets/mixed-small/custom.jsonl")}]}
    }
    out = prepare(mixture(sources, "policy.system_prompt=Be brief.", validation_share=0.2), tmp_path)
    rows = table(out / "train.parquet")
    assert {row["data_source"] for row in rows} == {"custom_math", "custom_qa", "custom_code"}
    assert all([turn["role"] for turn in row["prompt"]] == ["system", "user"] for row in rows)
    assert {row["prompt"][0]["content"] for row in rows} == {"Be brief."}
    assert not (out / "tests" / "mixed.parquet").exists()


def test_all_faulty_rows_are_told_with_file_and_line(tmp_path):
    train = lines(tmp_path / "train.jsonl", [*numbers(0, 20), {"question": "?"}, {"question": "", "answer": "#### 1"}])
    test = lines(tmp_path / "test.jsonl", [{"question": "?", "answer": "none"}])
    sources = {"gsm8k": {"train": [{"path": train}], "test": [{"path": test}]}}
    with pytest.raises(ContractError) as caught:
        prepare(mixture(sources, weights={"qa": 0.0, "code": 0.0}), tmp_path / "x")
    said = str(caught.value)
    assert "2 files cannot be used" in said
    assert "2 of 22 rows" in said
    assert "line 21: lacks 'answer'" in said
    assert "line 22: 'question' is blank" in said
    assert "test.jsonl, line 1" in said
    assert not list((tmp_path / "x").glob("mixture/*"))


def test_no_validation_rows_is_an_error(tmp_path):
    sources = {"gsm8k": {"train": [{"path": lines(tmp_path / "t.jsonl", numbers(0, 3))}]}}
    with pytest.raises(ConfigError, match="no row for validation"):
        prepare(mixture(sources, validation_share=0.001, weights={"qa": 0.0, "code": 0.0}), tmp_path / "x")


GOLDS = [
    MathGold("math", r"\frac{1}{2}"),
    MathGold("gsm8k", "1,024 \x7f é"),
    QaGold("squad2", ()),
    QaGold("hotpotqa", ("yes",), (("Ä", 0),)),
    CodeGold("mbpp", "p", None, 'assert f("\\n\t\x01")', setup="import x"),
]


@pytest.mark.parametrize("gold", GOLDS)
def test_a_golds_text_is_canonical(gold):
    assert gold_text(gold) == to_json(gold)


@pytest.mark.parametrize("who", ["gold", "judge", "both"])
@pytest.mark.parametrize("gold", GOLDS)
def test_rubrics_by_who_decides(gold, who):
    decided = f"data.mixture.decided_by={{math: {who}, qa: {who}, code: {who}}}"
    reward = "reward=rule-only" if who == "gold" else "reward=rubric"
    experiment = load_experiment("tiny", ("data=mixed-small", reward, decided))
    criteria = read_rubric(Rubrics(experiment).text(gold, to_json(gold)))
    points = {"gold": [1.0], "judge": [0.0, 1.0], "both": [1.0, 1.0]}[who]
    assert [line.points for line in criteria] == points
    assert criteria[0].rule is not None
    assert criteria[0].rule["gold"] == to_json(gold)
    if who != "gold" and isinstance(gold, MathGold):
        assert criteria[1].text == f"The final answer is equivalent to the reference answer: {gold.answer}"


ALONE = {"weights": {"qa": 0.0, "code": 0.0}, "validation_share": 0.2}


def test_what_is_like_a_test_row_that_a_limit_leaves_out_is_not_trained_on(tmp_path):
    """Own rows, which have ids of their own, repeat tests of another source, of which only five are wanted."""
    own = [{"problem": f"COUNT the {n} sheep.", "answer": n, "type": "math"} for n in range(20, 60)]
    sources = {
        "gsm8k": {"test": [{"path": lines(tmp_path / "test.jsonl", numbers(30, 60))}], "limit": 5},
        "custom": {"train": [{"path": lines(tmp_path / "own.jsonl", own)}]},
    }
    out = prepare(mixture(sources, **ALONE), tmp_path / "out")
    rows = [*table(out / "train.parquet"), *table(out / "heldout.parquet")]
    assert {row["extra_info"]["question"].split()[2] for row in rows} <= {str(n) for n in range(20, 30)}
    assert loaded(out / "info.json")["rows"]["test"] == {"gsm8k": 5}


def test_short_texts_are_duplicates_but_for_their_dress(tmp_path):
    def rows(*texts):
        return [{"problem": text, "answer": "1", "type": "math"} for text in texts]

    test = rows(
        "Find $\\sin 60^\\circ$.", "Write a python function to find the maximum of two given numbers.", "Add 1.5?"
    )
    more = [f"Name number {n}" for n in range(30)]
    train = rows(
        "Find $\\sin 60^{\\circ}$",
        "Write a function to find maximum of two numbers.",
        "Add 15",
        "Find $-\\sin 60$.",
        *more,
    )
    sources = {
        "custom": {
            "train": [{"path": lines(tmp_path / "train.jsonl", train)}],
            "test": [{"path": lines(tmp_path / "test.jsonl", test)}],
        }
    }
    out = prepare(mixture(sources, **ALONE), tmp_path / "out")
    found = loaded(out / "info.json")["duplicates"]["exact"]
    assert (found["across_left_out_of_train"]["all"], found["within_train_left_out"]["all"]) == (2, 0)


def test_a_file_that_changes_between_hashing_and_reading_is_refused(tmp_path, monkeypatch):
    path = lines(tmp_path / "train.jsonl", numbers(1, 60))
    read = reading.read_records

    def late(*given):
        lines(tmp_path / "train.jsonl", numbers(100, 160))
        return read(*given)

    monkeypatch.setattr(reading, "read_records", late)
    with pytest.raises(ContractError, match="changed while it was read"):
        prepare(mixture({"gsm8k": {"train": [{"path": path}]}}, **ALONE), tmp_path / "out")


def test_files_made_to_hurt_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LONGEST_LINE", 5000)
    with gzip.open(tmp_path / "long.jsonl.gz", "wb") as file:
        file.write(b" " * 100_000)
    text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    pq.write_table(pa.table({"question": text, "answer": ["#### 1"]}), tmp_path / "bytes.parquet")
    for name, what in (("long.jsonl.gz", "MiB"), ("bytes.parquet", "parquet")):
        with pytest.raises(ContractError, match=what):
            prepare(mixture({"gsm8k": {"train": [{"path": str(tmp_path / name)}]}}, **ALONE), tmp_path / f"out-{name}")


def test_json_that_is_nested_too_deep_is_no_crash():
    with pytest.raises(ContractError):
        decode(b'{"a":' * 1010 + b"1" + b"}" * 1010)
