"""The hash and the identity parts: what a change repeats, and what it leaves alone."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.spec import Experiment, load_experiment

TINY = load_experiment("tiny")
PARTS = ("data", "policy", "judge", "reward", "training", "generation", "evaluation")


def _identities(experiment: Experiment) -> dict[str, str]:
    return {part: json.dumps(getattr(experiment, f"{part}_identity")(), sort_keys=True) for part in PARTS}


def _changed(*overrides: str, base: str = "tiny") -> set[str]:
    before = _identities(load_experiment(base))
    after = _identities(load_experiment(base, overrides))
    return {part for part in PARTS if before[part] != after[part]}


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("cluster=local-cpu", set()),
        ("cluster.cpu_threads=1", set()),
        ("name=other", set()),
        ("judge.port=8123", set()),
        ("judge.timeout_seconds=1", set()),
        ("judge.max_concurrency=1", set()),
        ("judge.attempts=1", set()),
        ("judge.api_key_env=KEY", set()),
        ("judge.serving=vllm", set()),
        ("judge.weak=null", set()),
        ("judge.family=other", set()),
        ("policy.licence=other", set()),
        ("training.deadline_minutes=21", set()),
        ("training.stall_minutes=4", set()),
        ("training.checkpoint_every=2", set()),
        ("training.keep_checkpoints=1", set()),
        ("training.trackers=[wandb]", set()),
        ("judge.model_name=other", {"judge"}),
        ("judge.source.seed=9", {"judge"}),
        ("judge.context_tokens=1024", {"judge"}),
        ("policy.source.seed=9", {"policy"}),
        ("policy.dtype=bfloat16", {"policy"}),
        ("policy.system_prompt=Hello.", {"policy"}),
        ("reward.value=binary", {"reward"}),
        ("reward.temperature=2", {"reward"}),
        ("reward.min_known_weight=0.5", {"reward"}),
        ("training.steps=4", {"training"}),
        ("training.learning_rate=2e-3", {"training"}),
        ("training.lora={}", {"training"}),
        ("data.train_rows=31", {"data"}),
        ("data.gold.max_words=30", {"data"}),
        ("data.criteria.0.text=mentions a bird", {"data"}),
        ("evaluation.confidence=0.9", {"evaluation"}),
        ("evaluation.bootstrap_samples=400", {"evaluation"}),
        ("evaluation.max_response_tokens=8", {"generation", "evaluation"}),
        ("seed=2", {"data", "training", "generation", "evaluation"}),
    ],
)
def test_what_a_change_touches(override: str, parts: set[str]) -> None:
    assert _changed(override) == parts
    assert load_experiment("tiny", [override]).digest() != TINY.digest()


def test_another_endpoint_is_the_same_judge() -> None:
    first = load_experiment("tiny", ["judge=external-example"])
    second = load_experiment("tiny", ["judge=external-example", "judge.endpoint=http://other:1"])
    assert first.judge_identity() == second.judge_identity()


def test_identities_name_no_cluster_and_no_endpoint() -> None:
    experiment = load_experiment("tiny", ["judge=external-example", "judge.port=null"])
    text = json.dumps(_identities(experiment))
    for word in ("127.0.0.1", "endpoint", "timeout", "memory_gib", "local-folder", "serving", "api_key"):
        assert word not in text


def _folder(path: Path) -> Path:
    path.mkdir()
    (path / "config.json").write_text("{}", encoding="utf-8")
    return path


def test_a_folder_counts_by_its_asserted_content_and_by_its_path_only_without(tmp_path: Path) -> None:
    one, two = _folder(tmp_path / "one"), _folder(tmp_path / "two")

    def load(path: Path, content: str) -> Experiment:
        return load_experiment("tiny", [f"policy.source={{kind: folder, path: '{path}', sha256: {content}}}"])

    a, b = "a" * 64, "b" * 64
    assert load(one, a).policy_identity() == load(two, a).policy_identity()
    assert load(one, a).digest() == load(two, a).digest()
    assert load(one, a).policy_identity() != load(one, b).policy_identity()
    assert str(tmp_path) not in json.dumps(load(one, a).policy_identity())
    assert load(one, "null").policy_identity() != load(two, "null").policy_identity()


def test_files_count_by_their_content(tmp_path: Path) -> None:
    def load(folder: str, rows: str, template: str) -> Experiment:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows").write_text(rows, encoding="utf-8")
        (tmp_path / folder / "template").write_text(template, encoding="utf-8")
        where = tmp_path / folder
        given = ["data.kind=jsonl", f"data.path={where}/rows", f"policy.chat_template={where}/template"]
        return load_experiment("tiny", given)

    first, moved, rows, template = load("a", "1", "x"), load("b", "1", "x"), load("c", "2", "x"), load("d", "1", "y")
    assert _identities(first) == _identities(moved)
    assert first.digest() == moved.digest()
    assert first.data_identity() != rows.data_identity()
    assert first.policy_identity() == rows.policy_identity()
    assert first.policy_identity() != template.policy_identity()
    assert len({first.digest(), rows.digest(), template.digest()}) == 3


def test_digest_is_sha256_of_canonical_json() -> None:
    tree = json.loads(TINY.to_json())
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    assert TINY.to_json() == text
    assert TINY.digest() == hashlib.sha256(text.encode("utf-8")).hexdigest()


def test_digest_does_not_depend_on_the_order_of_keys(tmp_path: Path) -> None:
    lines = TINY.model_dump(mode="json")

    def turned(tree: object) -> object:
        if isinstance(tree, dict):
            return {key: turned(value) for key, value in reversed(tree.items())}
        return tree

    path = tmp_path / "turned.yaml"
    path.write_text(json.dumps(turned(lines)), encoding="utf-8")
    assert next(iter(json.loads(path.read_text()))) == "cluster"
    assert load_experiment(path).digest() == TINY.digest()


def test_a_whole_number_and_its_float_are_one_value() -> None:
    assert (
        load_experiment("tiny", ["reward.temperature=3"]).digest()
        == load_experiment("tiny", ["reward.temperature=3.0"]).digest()
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(lambda text: text.strip())
EXPERIMENTS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**31 - 1),
        "system": st.none() | TEXT,
        "texts": st.lists(TEXT, min_size=1, max_size=4, unique_by=lambda text: text.strip().lower()),
        "points": st.floats(0.001, 1000),
        "temperature": st.floats(min_value=0, max_value=1000, exclude_min=True),
        "rate": st.floats(min_value=0, max_value=1, exclude_min=True),
        "steps": st.integers(1, 10**6),
        "lora": st.none() | st.fixed_dictionaries({"rank": st.integers(1, 1024), "alpha": st.integers(1, 10**6)}),
    }
)


def _build(values: dict[str, Any]) -> Experiment:
    tree = json.loads(TINY.to_json())
    tree["seed"] = values["seed"]
    tree["policy"]["system_prompt"] = values["system"]
    tree["data"]["criteria"] = [{"text": text, "points": values["points"]} for text in values["texts"]]
    tree["reward"]["temperature"] = values["temperature"]
    tree["training"].update(learning_rate=values["rate"], steps=values["steps"], lora=values["lora"])
    return Experiment.from_json(json.dumps(tree))


@given(EXPERIMENTS)
@settings(max_examples=60, deadline=None)
def test_json_gives_back_the_same_experiment(values: dict[str, Any]) -> None:
    experiment = _build(values)
    again = Experiment.from_json(experiment.to_json())
    assert again == experiment
    assert again.to_json() == experiment.to_json()
    assert again.digest() == experiment.digest()
    assert _identities(again) == _identities(experiment)


@given(EXPERIMENTS, EXPERIMENTS)
@settings(max_examples=30, deadline=None)
def test_equal_digests_mean_equal_experiments(one: dict[str, Any], two: dict[str, Any]) -> None:
    first, second = _build(one), _build(two)
    assert (first.digest() == second.digest()) == (first == second)
