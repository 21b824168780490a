import hashlib
import json
from pathlib import Path

import pytest

from components.core.contracts import PROMPTS, read_table
from components.core.errors import ConfigError, ContractError
from components.core.progress import Progress
from components.core.spec import Experiment, load_experiment
from components.core.step import StepContext
from components.data.step import STEP
from components.gold.checks import GoldChecks

SIZES = ("data.train_rows=24", "data.heldout_rows=24")


def prepare(experiment: Experiment, folder: Path) -> dict[str, object]:
    out = folder / "out"
    out.mkdir(parents=True)
    return dict(STEP.run(StepContext(experiment, {}, {}, out, folder, "id", Progress("prepare-data"), state=folder)))


def rows(folder: Path, split: str) -> list[dict]:
    return read_table(folder / "out" / f"{split}.parquet", PROMPTS).to_pylist()


def jsonl(folder: Path, lines: int) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"Write about {number}."}) + "\n" for number in range(lines)))
    return path


def test_rows_carry_what_trainer_judge_and_score_need(tmp_path):
    experiment = load_experiment("tiny", (*SIZES, "policy.system_prompt=Be brief."))
    returned = prepare(experiment, tmp_path)
    assert returned == {"train_rows": 24, "heldout_rows": 24, "source": "sentences"}
    row = rows(tmp_path, "heldout")[3]
    info = row["extra_info"]
    assert row["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": info["question"]},
    ]
    assert (info["index"], info["split"], row["data_source"]) == (3, "heldout", experiment.data.name)
    assert json.loads(info["rubric"]) == [
        {"text": experiment.data.criteria[0].text, "points": 1.0, "verifier": "llm", "tags": []}
    ]
    assert row["reward_model"]["style"] == "rubric"
    gold = experiment.data.gold
    assert GoldChecks.parse(json.loads(row["reward_model"]["ground_truth"])) == GoldChecks(
        gold.word_list, gold.min_words, gold.max_words, gold.echo
    )
    summary = json.loads((tmp_path / "out" / "data.json").read_text())
    assert summary["licence"] == "MIT"
    assert summary["gold"] == "data.gold of the experiment"
    assert summary["seed"] == experiment.seed
    for name, entry in summary["files"].items():
        assert entry["sha256"] == hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest()
        assert entry["rows"] == 24


def test_no_system_message_where_there_is_no_system_prompt(tmp_path):
    prepare(load_experiment("tiny", (*SIZES, "policy.system_prompt=null")), tmp_path)
    assert [message["role"] for message in rows(tmp_path, "train")[0]["prompt"]] == ["user"]


def test_same_seed_gives_the_same_bytes(tmp_path):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        prepare(load_experiment("tiny", (*SIZES, f"seed={seed}")), tmp_path / name)
    for file in ("train.parquet", "heldout.parquet", "data.json"):
        a, b, c = ((tmp_path / name / "out" / file).read_bytes() for name in "abc")
        assert a == b
        assert a != c


def test_ids_are_of_the_content_and_not_of_the_place(tmp_path):
    prepare(load_experiment("tiny", SIZES), tmp_path / "a")
    prepare(load_experiment("tiny", ("data.train_rows=12", "data.heldout_rows=12")), tmp_path / "b")
    prepare(load_experiment("tiny", (*SIZES, "data.gold.max_words=39")), tmp_path / "c")
    a, b, c = (
        {row["extra_info"]["question"]: row["extra_info"]["id"] for row in rows(tmp_path / name, "train")}
        for name in "abc"
    )
    assert len(set(a.values())) == 24
    assert b.items() <= a.items()
    assert a.keys() == c.keys()
    assert not set(a.values()) & set(c.values())


def test_splits_share_no_template_and_no_id(tmp_path):
    prepare(load_experiment("tiny", SIZES), tmp_path)
    for key in ("template", "id", "question"):
        train, heldout = ({row["extra_info"][key] for row in rows(tmp_path, split)} for split in ("train", "heldout"))
        assert not train & heldout


def test_a_users_own_file(tmp_path):
    path = jsonl(tmp_path, 40)
    experiment = load_experiment("tiny", (*SIZES[:1], "data.heldout_rows=16", "data.kind=jsonl", f"data.path={path}"))
    prepare(experiment, tmp_path)
    assert len(rows(tmp_path, "train")) == 24
    assert len(rows(tmp_path, "heldout")) == 16
    path.write_text(path.read_text() + '{"prompt": "Write about 40."}\n')
    with pytest.raises(ContractError, match="sha256"):
        prepare(experiment, tmp_path / "again")
    path.unlink()
    with pytest.raises(ContractError, match="cannot be read"):
        prepare(experiment, tmp_path / "gone")


def test_a_users_file_with_too_few_prompts(tmp_path):
    path = jsonl(tmp_path, 20)
    experiment = load_experiment("tiny", (*SIZES, "data.kind=jsonl", f"data.path={path}"))
    with pytest.raises(ConfigError, match="20 prompts") as caught:
        prepare(experiment, tmp_path)
    assert str(path) in str(caught.value)


def test_an_unknown_word_list_of_a_row_is_refused_before_anything_is_trained(tmp_path):
    path = jsonl(tmp_path, 40)
    path.write_text(path.read_text() + '{"prompt": "Last.", "gold": {"word_list": "planets"}}\n')
    overrides = ("data.train_rows=21", "data.heldout_rows=20", "data.kind=jsonl", f"data.path={path}")
    with pytest.raises(ConfigError, match="no word list 'planets'") as caught:
        prepare(load_experiment("tiny", overrides), tmp_path)
    assert "animals" in caught.value.remedy


def test_identity_follows_data_seed_and_system_prompt_alone(tmp_path):
    base = load_experiment("tiny")

    def same(*overrides: str) -> bool:
        return STEP.depends(load_experiment("tiny", overrides)) == STEP.depends(base)

    assert same("cluster.cpu_threads=1", "training.steps=1", "judge.timeout_seconds=9", "evaluation.batch=2")
    assert not same("seed=99")
    assert not same("policy.system_prompt=Hello.")
    assert not same("data.gold.min_words=3")
    path = jsonl(tmp_path, 40)
    moved = path.rename(tmp_path / "moved.jsonl")
    first = load_experiment("tiny", ("data.kind=jsonl", f"data.path={moved}"))
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(moved.read_bytes())
    second = load_experiment("tiny", ("data.kind=jsonl", f"data.path={copy}"))
    assert STEP.depends(first) == STEP.depends(second)


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ([None, None], "data.gold of the experiment"),
        (["foods", "foods"], "in the rows"),
        (["foods", None], "data.gold of the experiment in some rows, their own in others"),
    ],
)
def test_data_json_tells_whose_hidden_checks_the_rows_have(tmp_path, gold, told):
    path = tmp_path / "mine.jsonl"
    rows = [
        {"prompt": f"Write about {number}."} | ({"gold": {"word_list": name}} if name else {})
        for number, name in enumerate(4 * gold)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    changes = ("data.kind=jsonl", f"data.path={path}", "data.train_rows=4", "data.heldout_rows=4")
    prepare(load_experiment("tiny", changes), tmp_path)
    assert json.loads((tmp_path / "out" / "data.json").read_text())["gold"] == told
