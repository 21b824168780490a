"""A mixture in the data's specification, and the evaluation on its sets."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.spec import Experiment, load_experiment
from pipelines.remote.portable import portable

HUB = "{repo: owner/set, revision: 0123456789abcdef0123456789abcdef01234567, file: a.parquet}"
S3 = "{path: 's3://bucket/rows.jsonl'}"


def _data(sources: str, more: str = "") -> str:
    return f"data={{name: mixed, kind: mixture, heldout_rows: 4, mixture: {{sources: {sources}{more}}}}}"


ALL = f"{{gsm8k: {{train: [{S3}], test: [{S3}]}}, squad2: {{train: [{S3}]}}, mbpp: {{all: [{S3}]}}}}"
CUSTOM = f"{{gsm8k: {{train: [{S3}], test: [{S3}]}}, custom: {{train: [{S3}]}}}}"
GOLD = ["reward=rule-only"]


def test_a_mixture_loads_with_its_defaults() -> None:
    mixture = load_experiment("tiny", [_data(ALL), *GOLD]).data.mixture
    assert mixture is not None
    assert mixture.weights.model_dump() == {"math": 4.0, "qa": 3.0, "code": 3.0}
    assert (mixture.split, mixture.within, mixture.draw, mixture.repeat_cap) == ("official", "equal", "weights", 4)
    assert [key for key, _ in mixture.files()] == [
        "sources.gsm8k.test.0",
        "sources.gsm8k.train.0",
        "sources.squad2.train.0",
        "sources.mbpp.all.0",
    ]
    assert not mixture.asks_a_judge


def _local(folder: Path, content: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / "rows.jsonl"
    path.write_text(content, encoding="utf-8")
    return f"{{custom: {{train: [{{path: '{path}'}}]}}}}"


def test_files_count_by_their_content(tmp_path: Path) -> None:
    def load(name: str, content: str) -> Experiment:
        return load_experiment("tiny", [_data(_local(tmp_path / name, content)), *GOLD])

    first, moved, other = load("a", "1"), load("b", "1"), load("c", "2")
    assert first.data.mixture is not None
    ((_, file),) = first.data.mixture.files()
    assert file.sha256 == hashlib.sha256(b"1").hexdigest()
    assert str(tmp_path) in str(file.path)
    assert str(tmp_path) not in json.dumps(first.data_identity())
    assert first.data_identity() == moved.data_identity() != other.data_identity()
    assert first.digest() == moved.digest() != other.digest()
    assert Experiment.from_json(first.to_json()) == first


def test_a_path_whose_content_is_unknown_stands_for_itself() -> None:
    one = load_experiment("tiny", [_data(ALL), *GOLD])
    two = load_experiment("tiny", [_data(ALL.replace("rows.jsonl", "other.jsonl")), *GOLD])
    assert one.data_identity() != two.data_identity()


def test_another_content_than_asserted_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    sources = _local(tmp_path / "a", "1").replace("'}", f"', sha256: {'a' * 64}}}")
    message = refused(_data(sources), *GOLD)
    assert "data.mixture.sources.custom.train.0.sha256: " in message
    assert hashlib.sha256(b"1").hexdigest() in message


@pytest.mark.parametrize(
    ("key", "words", "overrides"),
    [
        ("data.mixture", "null, and kind mixture", ["data={name: m, kind: mixture, heldout_rows: 4}", *GOLD]),
        ("data.mixture", "no effect with kind sentences", [f"data.mixture={{sources: {ALL}}}"]),
        ("data.train_rows", "0, or missing, with kind sentences", ["data.train_rows=0"]),
        ("data.train_rows", "8 has no effect with kind mixture", [_data(ALL), "data.train_rows=8", *GOLD]),
        ("data.mixture.sources.gsm8k", "no set is given", [_data("{}", ", weights: {math: 0}"), *GOLD]),
        (
            "data.mixture.sources.humaneval.train",
            "a test part alone",
            [_data(f"{{humaneval: {{train: [{S3}]}}, math: {{train: [{S3}]}}}}", ", weights: {qa: 0, code: 0}"), *GOLD],
        ),
        (
            "data.mixture.weights.code",
            "3, but no source has training rows",
            [_data(f"{{humaneval: {{test: [{S3}]}}, math: {{train: [{S3}]}}}}", ", weights: {qa: 0}"), *GOLD],
        ),
        ("data.mixture.weights", "all weights are 0", [_data(ALL, ", weights: {math: 0, qa: 0, code: 0}"), *GOLD]),
        ("data.mixture.total_rows", "null, but draw materialised", [_data(ALL, ", draw: materialised"), *GOLD]),
        ("data.mixture.total_rows", "no effect with draw weights", [_data(ALL, ", total_rows: 9"), *GOLD]),
        (
            "data.mixture.total_rows",
            "3 rows do not fill one step",
            [_data(ALL, ", draw: materialised, total_rows: 3"), *GOLD],
        ),
        ("data.mixture.supporting_facts", "HotpotQA is no source", [_data(ALL, ", supporting_facts: true"), *GOLD]),
        ("data.mixture.decided_by.qa", "asks no judge in training", [_data(ALL, ", decided_by: {qa: judge}"), *GOLD]),
        ("data.mixture.decided_by.qa", "both, but reward.combine", [_data(ALL, ", decided_by: {qa: both}"), *GOLD]),
        ("reward.combine", "leaves it nothing to decide", [_data(ALL)]),
        (
            "data.mixture.decided_by.code",
            "code has no reference answer",
            [_data(ALL, ", decided_by: {code: both}"), "reward=semantic-equality"],
        ),
        ("training.scaffold", "has the reference answer", [_data(ALL), *GOLD, "training.scaffold={}"]),
        ("evaluation.tasks", "kind sentences have no task sets", ["evaluation.tasks={}"]),
        ("evaluation.tasks.sets", "math is no source", [_data(ALL), *GOLD, "evaluation.tasks={sets: [math]}"]),
        (
            "evaluation.tasks.sets",
            "squad2 has no test file",
            [_data(ALL), *GOLD, "evaluation.tasks={sets: [gsm8k, squad2]}"],
        ),
        (
            "evaluation.tasks.sets",
            "custom_qa has no test file",
            [_data(CUSTOM), *GOLD, "evaluation.tasks={sets: [gsm8k, custom_qa]}"],
        ),
        (
            "evaluation.tasks",
            "no source of data.mixture has a test file",
            [_data(f"{{gsm8k: {{train: [{S3}]}}}}", ", weights: {qa: 0, code: 0}"), *GOLD, "evaluation.tasks={}"],
        ),
        ("evaluation.tasks.ks", "pass@5 needs as many", [_data(ALL), *GOLD, "evaluation.tasks={ks: [1, 5]}"]),
        (
            "evaluation.tasks.samples.code",
            "at temperature 0 are all the same",
            [_data(ALL), *GOLD, "evaluation.tasks={samples: {code: 5}}"],
        ),
    ],
)
def test_impossible_mixtures(refused: Callable[..., str], key: str, words: str, overrides: list[str]) -> None:
    message = refused(*overrides)
    lines = [line for line in message.split("\n") if f"{key}: " in line]
    assert any(words in line for line in lines), message


def test_a_file_is_at_one_place_and_a_hubs_is_pinned(refused: Callable[..., str]) -> None:
    for file, words in (
        (f"{{path: 's3://b/k', hub: {HUB}, sha256: {'a' * 64}}}", "path and hub are both given"),
        ("{}", "neither path nor hub"),
        (f"{{hub: {HUB}}}", "pinned by its content"),
    ):
        assert words in refused(_data(f"{{gsm8k: {{train: [{file}]}}}}", ", weights: {qa: 0, code: 0}"), *GOLD)


def test_sets_whose_parts_their_rows_tell_may_be_answered() -> None:
    for more, sets in (("", "mbpp, mixed"), (", split: resplit-5-1", "squad2")):
        found = load_experiment("tiny", [_data(ALL, more), *GOLD, f"evaluation.tasks={{sets: [{sets}]}}"])
        assert found.evaluation.tasks is not None
    math = f"{{math: {{train: [{S3}]}}}}"
    load_experiment("tiny", [_data(math, ", weights: {qa: 0, code: 0}"), *GOLD, "evaluation.tasks={sets: [math]}"])


def test_a_judge_may_decide_or_join() -> None:
    for who in ("judge", "both"):
        experiment = load_experiment("tiny", [_data(ALL, f", decided_by: {{math: {who}}}")])
        assert experiment.data.mixture is not None
        assert experiment.data.mixture.asks_a_judge


def test_answering_tasks_changes_no_other_identity() -> None:
    plain = load_experiment("tiny", [_data(ALL), *GOLD])
    tasks = load_experiment("tiny", [_data(ALL), *GOLD, "evaluation.tasks={sets: [gsm8k, mixed], limit: 3}"])
    assert plain.tasks_identity() is None
    found = tasks.tasks_identity()
    assert found is not None
    assert (found["sets"], found["limit"], found["seed"]) == (["gsm8k", "mixed"], 3, plain.seed)
    for part in ("data", "policy", "training", "generation"):
        assert getattr(plain, f"{part}_identity")() == getattr(tasks, f"{part}_identity")()


def test_lora_of_rank_64_loads_for_the_studys_policies() -> None:
    for policy in ("qwen2.5-7b", "qwen3-8b"):
        found = load_experiment(
            "tiny", [f"policy={policy}", "training.lora={rank: 64, alpha: 128}", "cluster=local-gpu"]
        )
        assert found.training.lora is not None
        assert (found.training.lora.rank, found.training.lora.alpha) == (64, 128)
        assert found.policy.parameters > 7_000_000_000


def test_files_of_this_machine_do_not_go_to_a_cluster(tmp_path: Path) -> None:
    experiment = load_experiment("tiny", [_data(_local(tmp_path / "a", "1")), *GOLD])
    with pytest.raises(Exception, match=r"on this machine alone"):
        portable(experiment)
