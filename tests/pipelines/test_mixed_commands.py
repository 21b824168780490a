"""Which experiment a model gets, which graph an experiment, and what SKIP_DATA insists on."""

import json
import os
import re
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.spec import load_experiment
from components.core.step.execute import perform
from components.data.step import STEP
from pipelines import mixed_cli
from pipelines.__main__ import main
from pipelines.graphs import NAMES, evaluating_graph, graph_named, steps_of, training_graph
from pipelines.local import check_prepared
from pipelines.task_evaluation import given_names


def test_a_mixture_has_graphs_of_its_own() -> None:
    mixed, other = load_experiment("mixed_qwen25_7b"), load_experiment("tiny")
    assert (training_graph(mixed), evaluating_graph(mixed)) == ("mixed-baseline", "evaluate-tasks")
    assert (training_graph(other), evaluating_graph(other)) == ("judged-grpo", "evaluate")
    for name in NAMES:
        assert graph_named(name).__name__ == name.replace("-", "_")


def test_the_steps_of_a_judge_are_listed_where_one_is_asked() -> None:
    rules = load_experiment("mixed_qwen25_7b")
    assert steps_of(rules) == (
        *("prepare-data", "train-grpo", "merge-checkpoint", "generate-tasks", "score-tasks", "report"),
    )
    judged = load_experiment(
        "mixed_qwen25_7b", ["reward=semantic-equality", "data.mixture.decided_by={math: judge, qa: gold, code: gold}"]
    )
    assert set(steps_of(judged)) - set(steps_of(rules)) == {"deploy-judge", "probe-judge", "teardown-judge"}


def test_every_policy_of_the_list_has_its_experiment() -> None:
    for policy, name in mixed_cli.EXPERIMENTS.items():
        experiment = mixed_cli.mixed_experiment({"MODEL": policy}, ["seed=5"])
        assert (experiment.policy.name, experiment.name, experiment.seed) == (policy, name.replace("_", "-"), 5)
        lora = experiment.training.lora
        assert lora is not None
        assert lora.rank == 64


def test_a_folder_and_a_repository_become_the_policy(tmp_path: Path) -> None:
    folder = tmp_path / "My Model_1"
    folder.mkdir()
    experiment = mixed_cli.mixed_experiment({"MODEL": str(folder), "EXPERIMENT": "mixed_qwen3_8b"}, [])
    assert experiment.policy.source.model_dump() == {"kind": "folder", "path": str(folder), "sha256": None}
    assert (experiment.policy.name, experiment.data.name) == ("my-model-1", "mixed-official")
    hub = mixed_cli.mixed_experiment({"MODEL": "Qwen/Qwen2.5-0.5B", "EXPERIMENT": "mixed_qwen3_8b"}, [])
    assert hub.policy.source.model_dump()["repo"] == "Qwen/Qwen2.5-0.5B"
    named = mixed_cli.mixed_experiment({"MODEL": "qwen3-8b", "EXPERIMENT": "mixed_qwen25_7b"}, [])
    assert (named.policy.name, named.name) == ("qwen3-8b", "mixed-qwen25-7b")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, r"no model is named(.|\n)*MODEL=qwen2.5-7b\|qwen3-8b\|smollm2-135m\|tiny"),
        ({"MODEL": "no such thing"}, "is no policy, no folder"),
        ({"MODEL": "tiny", "EXPERIMENT": "tiny"}, "data of kind sentences"),
    ],
)
def test_what_cannot_be_mixed_is_refused(given: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        mixed_cli.mixed_experiment(given, [])


def test_a_cluster_is_told_how_to_be_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mixed", "MODEL=qwen3-8b"]) == 1
    assert "make submit EXPERIMENT=mixed_qwen3_8b" in capsys.readouterr().err


def test_an_evaluation_for_a_cluster_is_told_how_to_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    for name, named in (("workflow_rl", "workflow.executor=..."), ("mixed_qwen3_8b", 'SET="cluster=local-gpu"')):
        assert main(["mixed-eval", f"EXPERIMENT={name}", "CHECKPOINT=s3://a/b"]) == 1
        told = capsys.readouterr().err
        assert f"make submit EXPERIMENT={name} CHECKPOINT=s3://" in told
        assert named in told
    # No model is fetched for what is refused.
    assert not (tmp_path / "state").exists()


def test_model_and_checkpoint_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["MODEL=tiny", "CHECKPOINT=x"], ["EXPERIMENT=mixed_small"]):
        assert main(["mixed-eval", *arguments]) == 1
        assert "give one of MODEL= and CHECKPOINT=" in capsys.readouterr().err


def test_skipping_data_that_nobody_prepared_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    experiment, store = load_experiment("tiny", ["data.train_rows=4"]), (tmp_path / "store").as_uri()
    with pytest.raises(ConfigError, match="not prepared") as caught:
        check_prepared(experiment, store)
    assert "SKIP_DATA" in caught.value.remedy
    perform(STEP, experiment, store, {})
    check_prepared(experiment, store)
    # Another seed draws other rows.
    with pytest.raises(ConfigError, match="not prepared"):
        check_prepared(load_experiment("tiny", ["data.train_rows=4", "seed=77"]), store)


def _data(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["data", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_data_are_prepared_alone_and_found_by_what_comes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What a run puts into the environment is taken back with the test.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    rows = ["data.train_rows=4", "data.heldout_rows=3"]
    # What training would need is not asked of the machine.
    status, printed, _ = _data(capsys, "tiny", *rows, "cluster.memory_gib=100000")
    assert status == 0
    assert re.search(r"heldout.parquet +3\n +train.parquet +4\n", printed)
    store = (tmp_path / "state" / "store").as_uri()
    experiment = load_experiment("tiny", rows)
    check_prepared(experiment, store)
    copy = tmp_path / "state" / "reports" / "tiny-data" / "data.json"
    assert f"copy:  {copy}" in printed
    folder = Path(re.findall(r"files: file://(.*)", printed)[0])
    assert copy.read_bytes() == (folder / "data.json").read_bytes()
    assert perform(STEP, experiment, store, {}).reused
    again = _data(capsys, "tiny", *rows)
    assert "reused" in again[1]
    assert f"files: file://{folder}" in again[1]


def test_a_mixtures_card_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    own = tmp_path / "own.jsonl"
    own.write_text("".join(f'{{"problem": "Say {n}.", "answer": {n}, "type": "math"}}\n' for n in range(40)))
    mixture = {"sources": {"custom": {"train": [{"path": str(own)}]}}, "weights": {"math": 1, "qa": 0, "code": 0}}
    data = {"name": "own", "kind": "mixture", "heldout_rows": 9, "mixture": {**mixture, "validation_share": 0.2}}
    status, printed, _ = _data(capsys, "tiny", f"data={json.dumps(data)}", "reward=rule-only")
    assert status == 0
    (card,) = re.findall(r"copy:  (.*data_card.html)", printed)
    info = json.loads(Path(card).with_name("info.json").read_text())
    assert "own: data card" in Path(card).read_text()
    assert re.search(rf"train.parquet +{info['train_rows']}\n", printed)


def test_a_given_model_has_a_name_that_says_nothing_of_training() -> None:
    found = given_names({"base": {"model": "base", "n": 1}, "trained": {"model": "trained", "n": 2}})
    assert found == {"base": {"model": "base", "n": 1}, "model": {"model": "model", "n": 2}}


def test_data_of_a_cluster_are_not_prepared_here(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, told = _data(capsys, "mixed_qwen25_7b")
    assert (status, "is on Kubernetes" in told) == (1, True)
