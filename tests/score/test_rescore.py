"""Stored responses scored again by another judge, as a user does it."""

import hashlib
import json
from pathlib import Path

import pytest
from scripted_judge import MODEL, ScriptedJudge
from test_score_step import CAT, PLAIN, Case

from components.core.contracts import CALLS, SCORES, VERDICTS, read_table
from components.score.__main__ import main


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    return Case(tmp_path)


def command(case: Case, url: str, output: Path, *more: str, what: str = "generations") -> int:
    name = "training" if what == "rollouts" else what
    judge = (
        f"judge={{name: other, family: test, serving: external, endpoint: '{url}', model_name: {MODEL}, "
        "context_tokens: 2048, logprobs: true, timeout_seconds: 5, attempts: 1, max_concurrency: 1}"
    )
    return main(
        [
            "rescore",
            f"--{what}",
            str(case.inputs[name]),
            "--data",
            case.inputs["data"].as_uri(),
            "--experiment",
            "tiny",
            "--output",
            str(output),
            *more,
            judge,
        ]
    )


def test_another_judge_gives_other_scores_to_the_same_responses(case, tmp_path, capsys):
    for liked, output in (("cat", "a"), ("jar", "b")):
        with ScriptedJudge(liked=liked).serve() as url:
            assert command(case, url, tmp_path / output) == 0
    assert "test_score/tiny-sentences" in capsys.readouterr().out
    scores = {name: read_table(tmp_path / name / "scores.parquet", SCORES).to_pylist() for name in "ab"}
    assert [row["sample_id"] for row in scores["a"]] == [row["sample_id"] for row in scores["b"]]
    # The first base response has a jar, the first trained one a cat.
    by_model = {name: {row["model"]: row["judge_reward"] for row in rows[::10]} for name, rows in scores.items()}
    assert by_model["a"]["trained"] > by_model["a"]["base"] == pytest.approx(0.5)
    assert by_model["b"]["base"] > by_model["b"]["trained"] == pytest.approx(0.5)
    assert [row["gold"] for row in scores["a"]] == [row["gold"] for row in scores["b"]]
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    rewards = [row["judge_reward"] for row in scores["a"] if row["model"] == "trained"]
    assert summary["judge"] == "other"
    assert summary["models"]["trained"]["judge_reward"]["mean"] == pytest.approx(sum(rewards) / 10)
    assert summary["models"]["trained"]["test_score"] == {"tiny-sentences": pytest.approx(sum(rewards) / 10)}
    verdicts = read_table(tmp_path / "a" / "verdicts.parquet", VERDICTS).to_pylist()
    assert {row["judge"] for row in verdicts} == {"other"}
    assert len(verdicts) == 20
    assert read_table(tmp_path / "a" / "calls.parquet", CALLS).num_rows == summary["calls"] > 0


def test_what_is_known_is_not_asked_again(case, tmp_path, capsys):
    stopping = ScriptedJudge(status=lambda call: 200 if call <= 6 else 400)
    with stopping.serve() as url:
        assert command(case, url, tmp_path / "out") == 1
    assert "the judge is not usable" in capsys.readouterr().err
    assert not (tmp_path / "out" / "scores.parquet").exists()
    going_on = ScriptedJudge()
    with going_on.serve() as url:
        assert command(case, url, tmp_path / "out") == 0
    fresh = ScriptedJudge()
    with fresh.serve() as url:
        assert command(case, url, tmp_path / "fresh") == 0
    assert 0 < going_on.calls < fresh.calls
    known, new = (read_table(tmp_path / name / "scores.parquet", SCORES) for name in ("out", "fresh"))
    assert known.equals(new)
    again = ScriptedJudge()
    with again.serve() as url:
        assert command(case, url, tmp_path / "out") == 0
    assert again.calls == 0


def test_training_rollouts_are_scored_as_well(case, tmp_path):
    case.write_rollouts(
        [case.rollout(), case.rollout(sample_id="1-1-a-1", sample_index=1, response=PLAIN, reward=0.25)]
    )
    with ScriptedJudge().serve() as url:
        assert command(case, url, tmp_path / "out", what="rollouts") == 0
    first, second = read_table(tmp_path / "out" / "scores.parquet", SCORES).to_pylist()
    assert (first["model"], first["step"], first["sample_id"]) == ("rollout", 1, "1-1-a-0")
    assert first["judge_reward"] > second["judge_reward"] == pytest.approx(0.5)
    assert CAT != PLAIN


def test_another_reward_is_work_of_its_own(case, tmp_path):
    with ScriptedJudge().serve() as url:
        assert command(case, url, tmp_path / "out") == 0
        before = read_table(tmp_path / "out" / "scores.parquet", SCORES).to_pylist()
        assert command(case, url, tmp_path / "out", "--reward", "likelihood-ratio-binary") == 0
    after = read_table(tmp_path / "out" / "scores.parquet", SCORES).to_pylist()
    assert {row["judge_reward"] for row in after} <= {0.0, 1.0}
    assert {row["judge_reward"] for row in before} - {0.0, 1.0}


@pytest.mark.parametrize("name", ["data", "experiment", "output", "generations"])
def test_a_variable_of_make_that_is_not_set_is_named(case, tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    given = {"data": "d", "experiment": "tiny", "output": "o", "generations": "g", name: ""}
    assert main(["rescore", *(word for key, value in given.items() for word in (f"--{key}", value))]) == 1
    assert f"{name.upper()}= (--{name})" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_folder_of_the_other_step_is_told(case, tmp_path, capsys):
    case.write_rollouts([case.rollout()])
    case.inputs["generations"] = case.inputs["training"]
    assert command(case, "http://127.0.0.1:9", tmp_path / "out") == 1
    assert f"name it as ROLLOUTS={case.inputs['training']}" in capsys.readouterr().err


def test_the_heading_says_what_the_figures_are_of(case, tmp_path, capsys):
    (case.inputs["data"] / "data.json").write_text('{"file": {"constraints": "soft_only"}}')
    with ScriptedJudge().serve() as url:
        assert command(case, url, tmp_path / "out", "reward.value=binary") == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [summary[key] for key in ("combine", "scored_as", "protocol", "value", "constraints")] == [
        "rubric",
        "rubric",
        "likelihood_ratio",
        "binary",
        "soft_only",
    ]
    table = case.inputs["generations"] / "generations.parquet"
    sha256 = hashlib.sha256(table.read_bytes()).hexdigest()
    assert summary["responses"] == {"path": str(case.inputs["generations"]), "sha256": sha256}
    out = capsys.readouterr().out
    assert "(combine rubric; protocol likelihood_ratio; value binary)" in out
    assert "constraints: soft_only" in out
    assert f"responses: {case.inputs['generations']} (sha256 {sha256[:12]})" in out


def test_a_control_arm_is_scored_as_a_rubric_and_says_so(case, tmp_path, capsys):
    with ScriptedJudge().serve() as url:
        assert command(case, url, tmp_path / "out", "reward.combine=length") == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["combine"], summary["scored_as"]) == ("length", "rubric")
    assert "(combine length, SCORED AS rubric; protocol" in capsys.readouterr().out


def test_mistakes_are_told(case, tmp_path, capsys):
    case.inputs["generations"] = tmp_path / "none"
    assert command(case, "http://127.0.0.1:9", tmp_path / "out") == 1
    assert "there is no such folder" in capsys.readouterr().err
    assert command(Case(tmp_path / "b"), "http://127.0.0.1:9", tmp_path / "o", "--endpoint", "http://127.0.0.1:9") == 1
    assert "has an endpoint of its own" in capsys.readouterr().err
    assert main([]) == 2
    with pytest.raises(SystemExit):
        main(["rescore", "--data", "x"])
