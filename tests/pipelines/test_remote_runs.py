"""Runs on a cluster as people ask for them: the table, what became of each step, the report, the end."""

import json
from pathlib import Path
from typing import Any

import pytest
from kfp_double import KfpDouble
from remote_world import kfp

from components.core.errors import ServiceError
from components.core.manifest import FileEntry, Manifest, sha256_file
from components.core.spec import load_experiment
from components.core.spec.study_load import load_study
from components.core.store import Store
from components.kube import kinds
from pipelines.__main__ import main
from pipelines.remote.connect import connect
from pipelines.remote.logs import run_logs
from pipelines.remote.portable import portable
from pipelines.remote.portable_study import portable_study

__all__ = ["kfp"]


def detail(task: str, state: str, *, parent: str = "", start: int = 0, end: int = 60, **more: Any) -> dict[str, Any]:
    when = "2026-03-01T12:{:02d}:{:02d}Z"
    return {
        "task_id": f"{task}-{start}",
        "display_name": task,
        "state": state,
        "parent_task_id": parent,
        "start_time": when.format(start // 60, start % 60),
        "end_time": when.format(end // 60, end % 60),
        **more,
    }


def details(failed: bool) -> dict[str, Any]:
    """As KFP tells of a run: its own tasks between Gavel's, attempts as tasks, errors where they happened."""
    error = {"code": 2, "message": "main: Error (exit code 1)"}
    tasks = [
        detail("judged-grpo-x7k2p", "FAILED" if failed else "SUCCEEDED"),
        detail("root-driver", "SUCCEEDED"),
        detail("exit-handler-1", "FAILED" if failed else "SUCCEEDED"),
        detail("prepare-data-driver", "SUCCEEDED"),
        detail("score", "FAILED", start=200, end=290) if failed else detail("score", "SUCCEEDED", start=200, end=290),
        detail("executor", "FAILED", parent="score-200", start=210, end=280, error=error),
        detail("prepare-data", "SUCCEEDED", start=10, end=75),
        detail("resolve", "SUCCEEDED", start=2, end=9),
    ]
    return {"task_details": tasks}


@pytest.fixture
def world(kfp: KfpDouble) -> KfpDouble:
    kfp.experiments = {
        "e1": {"experiment_id": "e1", "display_name": "verinstruct-rl"},
        "e2": {"experiment_id": "e2", "display_name": "other"},
    }
    text = portable(load_experiment("verinstruct_rl"))
    common = {"experiment_id": "e1", "runtime_config": {"parameters": {"experiment": text, "store": "s3://gavel"}}}
    end = "2026-03-01T13:02:00Z"
    first = "11111111-0000-4000-8000-00000000000"
    kfp.run(run_id=f"{first}1", display_name="one", state="SUCCEEDED", finished_at=end, **common)
    kfp.run(
        run_id=f"{first}2", display_name="two", state="FAILED", finished_at=end, run_details=details(True), **common
    )
    kfp.run(run_id="22222222-0000-4000-8000-000000000003", display_name="three", state="RUNNING", experiment_id="e2")
    return kfp


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[2:]]


def test_the_table_has_the_newest_first_and_names_the_failing_step(world, capsys):
    assert main(["runs"]) == 0
    found = rows(capsys.readouterr().out)
    assert [(row[0], row[1], row[2]) for row in found] == [
        ("22222222", "other", "running"),
        ("11111111", "verinstruct-rl", "failed"),
        ("11111111", "verinstruct-rl", "succeeded"),
    ]
    # Made at 12:02, ended at 13:02.
    assert found[1][3:] == ["2026-03-01", "12:02", "1:00:00", "score"]
    assert main(["runs", "other"]) == 0
    assert len(rows(capsys.readouterr().out)) == 1
    # As the file is called, and as submit takes it.
    assert main(["runs", "verinstruct_rl"]) == 0
    assert {row[1] for row in rows(capsys.readouterr().out)} == {"verinstruct-rl"}
    assert main(["runs", "nobody"]) == 1
    assert "it has: other, verinstruct-rl" in capsys.readouterr().err


def test_many_runs_come_in_pages(kfp, capsys):
    kfp.experiments["e"] = {"experiment_id": "e", "display_name": "many"}
    ids = [kfp.run(experiment_id="e", display_name=f"r{number}")["run_id"] for number in range(150)]
    assert main(["logs", "r0"]) == 0
    assert ids[0] in capsys.readouterr().out
    assert main(["runs"]) == 0
    assert len(rows(capsys.readouterr().out)) == 20


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "no run is named"),
        ("1111", "2 runs fit"),
        ("9", "there is no run '9'"),
        ("99999999-0000-4000-8000-000000000000", "does not know it (404)"),
    ],
)
def test_a_run_that_is_not_one(world, capsys, given, words):
    for command in ("logs", "report", "cancel"):
        assert main([command, given]) == 1
        told = capsys.readouterr().err
        assert words in told
        assert "Traceback" not in told


def test_no_runs_at_all(kfp, capsys):
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == "no runs yet\n"
    assert main(["logs", "abc"]) == 1
    assert "KFP has no runs here" in capsys.readouterr().err


def test_each_step_is_told_with_its_error_and_kfps_own_tasks_are_not(world, capsys):
    assert main(["logs", "two"]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert ["resolve", "succeeded", "0:07"] in lines
    assert ["prepare-data", "succeeded", "1:05"] in lines
    assert ["score", "failed", "1:30"] in lines
    assert "main: Error (exit code 1)" in out
    assert "driver" not in out
    # No Kubernetes is reachable from here.
    assert (
        "kubectl -n kubeflow logs -l pipeline/runid=11111111-0000-4000-8000-000000000002,gavel.dev/step=score -c main"
        in out
    )
    assert f"{world.url}/#/runs/details/11111111-0000-4000-8000-000000000002" in out


def test_logs_of_pods_come_where_kubernetes_answers(world):
    asked = []

    def pods(namespace: str, run: str, step: str) -> list[tuple[str, str]]:
        asked.append((namespace, run, step))
        return [("pod-1", "step score failed: the judge is gone\n")]

    text = run_logs(connect(), "two", pod_logs=pods)
    assert asked == [("kubeflow", "11111111-0000-4000-8000-000000000002", "score")]
    assert "pod pod-1" in text
    assert "step score failed: the judge is gone" in text
    assert "resolve" not in run_logs(connect(), "two", "prepare-data", pod_logs=lambda *_: [])
    assert "has not come to train-grpo" in run_logs(connect(), "two", "train-grpo", pod_logs=pods)

    def away(*_: str) -> list[tuple[str, str]]:
        raise ServiceError("no kubeconfig")

    assert "cannot be read from here: no kubeconfig" in run_logs(connect(), "two", pod_logs=away)


@pytest.mark.parametrize("value", ["abc", "0", "-1", "nan", "inf", "1e9", "5 s"])
def test_a_patience_that_is_no_number_of_seconds_is_named(world, monkeypatch, value):
    """What KFP told is shown all the same."""
    monkeypatch.setenv("GAVEL_KUBE_PATIENCE", value)
    text = run_logs(connect(), "two")
    assert f"the log of score cannot be read from here: GAVEL_KUBE_PATIENCE is {value!r}, and no number" in text
    assert "kubectl -n kubeflow logs" in text
    assert "resolve" in text


def test_a_step_that_is_none(world, capsys):
    assert main(["logs", "two", "--step", "scor"]) == 1
    assert "there is no step 'scor'" in capsys.readouterr().err


def publish(root: Path, run_id: str, *, corrupt: bool = False) -> str:
    """A report as the step leaves it, and the note of the run."""
    folder = root / "verinstruct-rl" / "report" / "id" / "content"
    folder.mkdir(parents=True)
    (folder / "report.html").write_text("<html>it went well</html>")
    (folder / "summary.json").write_text('{"steps": 3}')
    files = tuple(
        FileEntry(path=name, size=(folder / name).stat().st_size, sha256=sha256_file(folder / name))
        for name in ("report.html", "summary.json")
    )
    (folder / "manifest.json").write_bytes(Manifest(files=files).to_bytes())
    if corrupt:
        (folder / "report.html").write_text("<html>it went ill!</html>")
    store = Store.open(root.as_uri())
    uri = store.uri("verinstruct-rl/report/id/content")
    store.write_bytes(f"kfp-runs/{run_id}/report.json", json.dumps({"uri": uri}).encode())
    return root.as_uri()


def test_the_report_is_fetched_and_verified(world, capsys, tmp_path):
    run = next(run for run in world.runs.values() if run["display_name"] == "one")
    run["runtime_config"]["parameters"]["store"] = publish(tmp_path / "store", run["run_id"])
    assert main(["report", "one"]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert paths[0].read_text() == "<html>it went well</html>"
    assert json.loads(paths[1].read_text()) == {"steps": 3}
    assert paths[0].parent == tmp_path / "state" / "reports" / "verinstruct-rl-11111111"


def test_of_a_study_its_own_report_is_fetched(world, capsys, tmp_path):
    run = next(run for run in world.runs.values() if run["display_name"] == "one")
    # An arm's report, noted by the same run.
    url = publish(tmp_path / "store", run["run_id"])
    folder = tmp_path / "store" / "judges" / "study-report" / "id" / "content"
    folder.mkdir(parents=True)
    texts = {"report.html": "<html>the study</html>", "study.json": '{"name": "judges"}'}
    for name, text in texts.items():
        (folder / name).write_text(text)
    files = tuple(
        FileEntry(path=name, size=len(text), sha256=sha256_file(folder / name)) for name, text in texts.items()
    )
    (folder / "manifest.json").write_bytes(Manifest(files=files).to_bytes())
    store = Store.open(url)
    uri = store.uri("judges/study-report/id/content")
    store.write_bytes(f"kfp-runs/{run['run_id']}/study-report.json", json.dumps({"uri": uri}).encode())
    run["runtime_config"]["parameters"] = {"study": portable_study(load_study("judges")), "store": url}
    assert main(["report", "one"]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.read_text() for path in paths] == list(texts.values())
    assert {path.parent for path in paths} == {tmp_path / "state" / "reports" / "judges-11111111"}


def test_a_corrupt_report_is_not_passed_on(world, capsys, tmp_path):
    run = next(run for run in world.runs.values() if run["display_name"] == "one")
    run["runtime_config"]["parameters"]["store"] = publish(tmp_path / "store", run["run_id"], corrupt=True)
    assert main(["report", "one"]) == 1
    assert "the report cannot be read" in capsys.readouterr().err


def test_a_run_without_a_report_says_why(world, capsys, tmp_path):
    (tmp_path / "store").mkdir()
    for run in world.runs.values():
        if run["display_name"] in ("one", "two"):
            run["runtime_config"]["parameters"]["store"] = (tmp_path / "store").as_uri()
    assert main(["report", "two"]) == 1
    assert "its step score failed" in capsys.readouterr().err
    assert main(["report", "three"]) == 1
    assert "has no experiment among its parameters" in capsys.readouterr().err


def test_a_store_that_cannot_be_reached_from_here_is_told(world, capsys, monkeypatch):
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    assert main(["report", "one"]) == 1
    told = capsys.readouterr().err
    assert "the report cannot be read" in told
    assert "port-forward" in told


def test_a_run_is_cancelled_once(world, capsys):
    assert main(["cancel", "three"]) == 0
    assert "is being cancelled" in capsys.readouterr().out
    assert world.runs["22222222-0000-4000-8000-000000000003"]["state"] == "CANCELING"
    assert main(["cancel", "two"]) == 0
    assert "has ended already: failed" in capsys.readouterr().out
    assert world.asked.count(("POST", "/apis/v2beta1/runs/11111111-0000-4000-8000-000000000002:terminate")) == 0


def test_the_log_of_the_failed_step_comes_from_kubernetes(world, double, capsys, monkeypatch):
    monkeypatch.setenv("KFP_NAMESPACE", double.namespace)
    run_id = "11111111-0000-4000-8000-000000000002"
    for name, step in (("wf-score-1", "score"), ("wf-generate-1", "generate")):
        labels = {"pipeline/runid": run_id, "gavel.dev/step": step}
        container = {"name": "main", "image": "registry.test/gavel/evaluation"}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": labels},
            "spec": {"containers": [container]},
        }
        double.cluster().create(kinds.PODS, pod)
        double.set_log(name, f"step {step} failed: no such judge\n")
    assert main(["logs", "two"]) == 0
    out = capsys.readouterr().out
    assert "pod wf-score-1" in out
    assert "step score failed: no such judge" in out
    assert "generate" not in out
    # Whoever may not read pods is told how to ask somebody who may.
    double.use("nobody")
    assert main(["logs", "two"]) == 0
    out = capsys.readouterr().out
    assert "the log of score cannot be read from here" in out
    assert f"kubectl -n {double.namespace} logs" in out
