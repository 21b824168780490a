"""The command line as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.spec import Experiment, load_experiment
from pipelines.__main__ import main


def test_show_prints_the_resolved_experiment_and_its_hash(capsys):
    assert main(["show", "quickstart", "training.steps=7"]) == 0
    out = capsys.readouterr().out
    digest = load_experiment("quickstart", ["training.steps=7"]).digest()
    assert digest in out.splitlines()[0]
    assert "steps: 7" in out


def test_show_json_is_what_the_pipeline_takes(capsys):
    assert main(["show", "tiny", "--json"]) == 0
    text = capsys.readouterr().out
    assert json.loads(text)["name"] == "tiny"
    assert Experiment.from_json(text) == load_experiment("tiny")


def test_a_mistake_is_one_error_without_a_traceback(capsys):
    assert main(["run", "tiny", "training.stepz=3"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "did you mean steps?" in captured.err
    assert "Traceback" not in captured.err


def test_a_cluster_experiment_is_not_run_here(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path))
    changes = ["cluster=h800", "judge={use: qwen3-32b}", "policy=qwen2.5-7b", "training.micro_batch=2"]
    status = main(["run", "quickstart", *changes])
    assert status == 1
    assert "Kubernetes" in capsys.readouterr().err


def test_without_a_command_the_usage_is_shown(capsys):
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["EXPERIMENT=tiny"], "no checkpoint is named"),
        (["CHECKPOINT=", "EXPERIMENT=tiny"], "no checkpoint is named"),
        (["CHECKPOINT=nowhere", "EXPERIMENT=tiny"], "there is no such folder"),
        (["CHECKPOINT=nowhere", "EXPERIMENT=tiny", "JUDGE=nobody"], "nobody"),
        (["CHECKPOINT=nowhere", "EXPERIMENT=tiny", "evaluation.batchs=1"], "did you mean batch?"),
    ],
)
def test_mistakes_of_an_evaluation_are_told_before_anything_starts(capsys, monkeypatch, tmp_path, arguments, words):
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    assert main(["eval", *arguments]) == 1
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert not (tmp_path / "state").exists()


def test_a_reader_that_has_enough_is_no_error():
    shown = subprocess.Popen(
        [sys.executable, "-c", "import sys; from pipelines.__main__ import main; sys.exit(main(['show', 'tiny']))"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert shown.stdout is not None
    assert shown.stderr is not None
    shown.stdout.close()
    assert shown.stderr.read() == ""
    shown.stderr.close()
    assert shown.wait(60) == 0


def test_compile_says_where_the_claims_that_steps_mount_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAVEL_IMAGES", str(tmp_path / "none.json"))
    compiling = ["compile", str(tmp_path), "--cluster", "dev", "--allow-tags"]
    assert main(compiling) == 0
    mounting = capsys.readouterr()
    assert "gavel-models" in (tmp_path / "judged-grpo.yaml").read_text()
    assert all(Path(line).is_file() for line in mounting.out.splitlines())
    assert "STANDALONE=1" in mounting.err
    assert main([*compiling, "--standalone"]) == 0
    assert not capsys.readouterr().err
    assert "gavel-models" not in (tmp_path / "judged-grpo.yaml").read_text()
