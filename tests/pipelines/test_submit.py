"""Submitting through kfp's real client to a double of KFP's API."""

import subprocess
from pathlib import Path

import pytest
import yaml
from kfp_double import KfpDouble
from remote_world import IMAGES, kfp

from components.core.request import Request
from components.core.spec import load_experiment
from components.core.spec.study_load import load_study
from pipelines.__main__ import main

__all__ = ["kfp"]
EXPERIMENT = "verinstruct_rl"


def submit(*arguments: str) -> int:
    return main(["submit", f"EXPERIMENT={EXPERIMENT}", *arguments])


def test_a_run_gets_the_experiment_the_package_and_the_account(kfp: KfpDouble, capsys: pytest.CaptureFixture[str]):
    arguments = ("JUDGE=qwen3-8b", "SEED=7", "START_FROM=s3://gavel/models/first", "training.steps=9")
    assert submit(*arguments) == 0
    (run,) = kfp.runs.values()
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith(f"run {run['run_id']}: experiment verinstruct-rl, pipeline judged-grpo-")
    assert f"{kfp.url}/#/runs/details/{run['run_id']}" in out
    assert run["service_account"] == "gavel-pipeline"
    (folder,) = kfp.experiments.values()
    assert folder["display_name"] == "verinstruct-rl"
    assert run["experiment_id"] == folder["experiment_id"]
    (pipeline,) = kfp.pipelines.values()
    assert pipeline["display_name"] == "judged-grpo"
    given = run["runtime_config"]["parameters"]
    assert given["judge"] == "qwen3-8b"
    assert given["seed"] == "7"
    assert given["start_from"] == "s3://gavel/models/first"
    assert given["store"] == "s3://gavel"
    # What the user writes is what a rerun in the UI shows; parameters are not in it.
    shown = yaml.safe_load(given["experiment"])
    assert shown["training"]["steps"] == 9
    assert shown["seed"] == load_experiment(EXPERIMENT).seed
    names = ("experiment", "judge", "seed", "start_from")
    resolved = Request(**{name: given[name] for name in names}).resolve()
    assert (resolved.seed, resolved.judge.name, resolved.training.steps) == (7, "qwen3-8b", 9)


def test_the_uploaded_package_is_pinned_and_has_no_secret(kfp: KfpDouble):
    assert submit() == 0
    (version,) = kfp.versions.values()
    spec = version["pipeline_spec"]["pipeline_spec"]
    images = {e["container"]["image"] for e in spec["deploymentSpec"]["executors"].values()}
    assert images <= set(IMAGES.values())
    executors = version["pipeline_spec"]["platform_spec"]["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    own = load_experiment(EXPERIMENT).judge.api_key_env
    train = {s["secretName"]: s["keyToEnv"] for s in executors["exec-train-grpo"]["secretAsEnv"]}
    assert {"gavel-store", "gavel-judge-keys"} == set(train)
    assert own in {key["envVar"] for key in train["gavel-judge-keys"]}
    # A standalone KFP's pods are in another namespace than the claims.
    assert "pvcMount" not in executors["exec-generate"]


def test_the_same_again_uploads_nothing(kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch):
    assert submit() == 0
    assert submit("SEED=8") == 0
    assert (len(kfp.pipelines), len(kfp.versions), len(kfp.experiments), len(kfp.runs)) == (1, 1, 1, 2)
    monkeypatch.setenv("GAVEL_IMAGE_TOOLS", IMAGES["tools"].replace("a" * 64, "b" * 64))
    assert submit() == 0
    assert (len(kfp.pipelines), len(kfp.versions), len(kfp.runs)) == (1, 2, 3)


def test_a_model_that_is_not_pinned_is_noted(kfp: KfpDouble, capsys: pytest.CaptureFixture[str]):
    assert submit("policy.source={kind: hub, repo: a/b, revision: v1}") == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("note: policy qwen2.5-7b is not pinned: a/b at 'v1'")
    assert captured.out.startswith("run ")


def test_a_checkpoint_is_evaluated_by_the_other_pipeline(kfp: KfpDouble):
    assert submit("CHECKPOINT=s3://gavel/x/global_step_9", "BASE=1") == 0
    (run,) = kfp.runs.values()
    given = run["runtime_config"]["parameters"]
    assert (given["checkpoint"], given["base"]) == ("s3://gavel/x/global_step_9", "1")
    assert [one["display_name"] for one in kfp.pipelines.values()] == ["evaluate"]


def test_a_study_goes_with_everything_that_its_names_stand_for(
    kfp: KfpDouble, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    assert main(["submit", "STUDY=judges", "probes.items=48"]) == 0
    (run,) = kfp.runs.values()
    assert capsys.readouterr().out.startswith(f"run {run['run_id']}: study judges, pipeline judge-study-")
    assert [one["display_name"] for one in kfp.pipelines.values()] == ["judge-study"]
    assert [one["display_name"] for one in kfp.experiments.values()] == ["judges"]
    given = run["runtime_config"]["parameters"]
    assert given["store"] == "s3://gavel"
    # Where no name can be looked up it is the same study.
    (tmp_path / "experiments").mkdir()
    there, here = load_study(given["study"], configs=tmp_path), load_study("judges", ["probes.items=48"])
    assert there.spec.probes.items == 48
    assert [(arm.name, arm.identity()) for arm in there.arms] == [(arm.name, arm.identity()) for arm in here.arms]
    # Judges with two protocols and three seeds: 6 + 12 (twice masked, twice not) + 6 + 6, a panel 3, controls 9.
    assert len(there.arms) == 42


def test_a_checkpoint_that_writes_workflows_is_tested_with_its_executor(kfp: KfpDouble):
    assert main(["submit", "EXPERIMENT=workflow_rl", "CHECKPOINT=s3://gavel/x/global_step_9", "BASE=1"]) == 0
    (run,) = kfp.runs.values()
    given = run["runtime_config"]["parameters"]
    assert (given["checkpoint"], given["base"]) == ("s3://gavel/x/global_step_9", "1")
    assert [one["display_name"] for one in kfp.pipelines.values()] == ["evaluate-workflows"]


def test_several_users_have_namespaces(kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch):
    kfp.multi_user = True
    assert submit() == 0
    assert [one["namespace"] for one in (*kfp.experiments.values(), *kfp.pipelines.values())] == ["gavel", "gavel"]
    (version,) = kfp.versions.values()
    executors = version["pipeline_spec"]["platform_spec"]["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    assert executors["exec-generate"]["pvcMount"][0]["mountPath"] == "/models"
    monkeypatch.setenv("KFP_NAMESPACE", "team")
    assert submit() == 0
    assert {one["namespace"] for one in kfp.experiments.values()} == {"gavel", "team"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["EXPERIMENT="], "no experiment is named"),
        (["EXPERIMENT=verinstruct_rl", "STUDY=judges"], "an experiment and a study are named"),
        (["STUDY=judges", "SEED=3", "JUDGE=qwen3-8b"], "JUDGE and SEED are of no use to a study"),
        (["STUDY=quick"], "cluster local-folder is this machine"),
        (["STUDY=judges", "probes.mounted=items"], "items is on this machine alone"),
        (["STUDY=judges", "probes.names=[verbosity,sytle]"], "did you mean style?"),
        (["STUDY=judges", "experiment.cluster.gpus=16"], "do not find room on 2 nodes"),
        (["EXPERIMENT=tiny"], "cluster local-folder is this machine"),
        (["EXPERIMENT=nobody"], "nobody"),
        (["EXPERIMENT=verinstruct_rl", "JUDGE=nobody"], "nobody"),
        (["EXPERIMENT=verinstruct_rl", "SEED=x"], "seed"),
        (["EXPERIMENT=verinstruct_rl", "START_FROM=file:///a/b"], "no s3:// URI"),
        (["EXPERIMENT=verinstruct_rl", "START_FROM=/x"], "START_FROM=s3://gavel/models/first"),
        (["EXPERIMENT=verinstruct_rl", "START_FROM=s3://gavel"], "START_FROM=s3://gavel/models/first"),
        (["EXPERIMENT=verinstruct_rl", "START_FROM=s3://G/x"], "such as s3://gavel/models/first"),
        (["EXPERIMENT=verinstruct_rl", "cluster.gpus=16"], "do not find room on 2 nodes"),
        (["EXPERIMENT=verinstruct_rl", "training.stepz=1"], "did you mean steps?"),
    ],
)
def test_mistakes_are_told_before_kfp_is_asked(kfp: KfpDouble, capsys: pytest.CaptureFixture[str], arguments, words):
    assert main(["submit", *arguments]) == 1
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert kfp.asked == []


def test_images_without_digests_start_nothing(kfp: KfpDouble, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("GAVEL_IMAGES", str(tmp_path / "none.json"))
    monkeypatch.delenv("GAVEL_IMAGE_TRAINER")
    assert submit() == 1
    assert "no image with a digest is known for trainer" in capsys.readouterr().err
    assert kfp.runs == {}
    monkeypatch.setenv("ALLOW_TAGS", "1")
    assert submit() == 0
    assert len(kfp.runs) == 1


def test_tokens_come_from_the_environment_or_a_file(kfp: KfpDouble, monkeypatch, capsys, tmp_path):
    kfp.token = "abc"
    assert main(["runs"]) == 1
    told = capsys.readouterr().err
    assert "401" in told
    assert "KFP_TOKEN" in told
    (tmp_path / "token").write_text("abc\n")
    monkeypatch.setenv("KFP_TOKEN_FILE", str(tmp_path / "token"))
    assert main(["runs"]) == 0
    monkeypatch.setenv("KFP_TOKEN", "wrong")
    assert main(["runs"]) == 1
    monkeypatch.delenv("KFP_TOKEN")
    monkeypatch.setenv("KFP_TOKEN_FILE", str(tmp_path / "nowhere"))
    assert main(["runs"]) == 1
    assert "the token cannot be read" in capsys.readouterr().err


def test_what_is_forbidden_is_told_with_kfps_words(kfp: KfpDouble, capsys):
    kfp.forbids = "/pipelines"
    assert submit() == 1
    told = capsys.readouterr().err
    assert "403" in told
    assert "User 'jo' is not authorized" in told
    assert kfp.runs == {}


@pytest.mark.parametrize("fault", ["500", "503", "drop"])
def test_reads_are_repeated(kfp: KfpDouble, fault):
    kfp.faults = [("GET", "/healthz", fault), ("GET", "/experiments", fault), ("GET", "/runs", fault)]
    assert main(["runs"]) == 0
    assert kfp.faults == []


@pytest.mark.parametrize(("fault", "words"), [("500", "KFP failed (500)"), ("drop", "see make runs")])
def test_a_run_that_may_have_been_made_is_not_made_twice(kfp: KfpDouble, capsys, fault, words):
    kfp.faults = [("POST", "/runs", fault)]
    assert submit() == 1
    told = capsys.readouterr().err
    assert words in told
    assert kfp.asked.count(("POST", "/apis/v2beta1/runs")) == 1


def test_a_host_that_is_not_kfp(kfp: KfpDouble, monkeypatch, capsys):
    kfp.page = "<html>Sign in</html>"
    assert main(["runs"]) == 1
    assert "not KFP's API" in capsys.readouterr().err
    monkeypatch.setenv("KFP_HOST", "http://127.0.0.1:9")
    assert main(["runs"]) == 1
    told = capsys.readouterr().err
    assert "cannot be reached" in told
    assert "port-forward svc/ml-pipeline-ui 8080:80" in told
    assert "Traceback" not in told
    monkeypatch.setenv("KFP_HOST", "")
    assert main(["runs"]) == 1
    assert "no KFP is named" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["logs", "report", "cancel"])
def test_a_run_that_is_not_named_is_told_before_kfp_is_asked(kfp: KfpDouble, monkeypatch, capsys, command):
    assert main([command, ""]) == 1
    assert "no run is named" in capsys.readouterr().err
    assert kfp.asked == []
    monkeypatch.delenv("KFP_HOST")
    assert main([command, " "]) == 1
    told = capsys.readouterr().err
    assert "no run and no KFP is named" in told
    assert "RUN, KFP_HOST" in told
    assert main([command, "abc"]) == 1
    assert "no KFP is named" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_host_of_this_machine_without_a_scheme_is_asked_by_http(kfp: KfpDouble, monkeypatch, name):
    from pipelines.remote.connect import connect

    monkeypatch.setenv("KFP_HOST", f"{name}:{kfp.url.rsplit(':', 1)[1]}")
    found = connect()
    assert found.host == f"http://{name}:{kfp.url.rsplit(':', 1)[1]}"
    assert found.ui == found.host


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1:8080/pipeline", True),
        ("[::1]:8080", True),
        ("kfp.localhost", True),
        ("10.0.0.1:8080", False),
        ("localhost.example.org", False),
        ("example.org/localhost", False),
        ("[bad", False),
    ],
)
def test_which_hosts_are_this_machine(host, loopback):
    from pipelines.remote.connect import _is_loopback

    assert _is_loopback(host) is loopback


def test_a_refused_connection_tells_of_the_scheme(kfp: KfpDouble, monkeypatch, capsys):
    monkeypatch.setenv("KFP_HOST", "https://127.0.0.1:9")
    assert main(["runs"]) == 1
    assert "for plain HTTP write http://127.0.0.1:9" in capsys.readouterr().err
    # TLS asked of a server that has none.
    monkeypatch.setenv("KFP_HOST", kfp.url.replace("http://", "https://"))
    assert main(["runs"]) == 1
    assert f"for plain HTTP write {kfp.url}" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["multi_user", "apiServerMultiUser"])
def test_the_server_of_the_pages_says_that_there_are_several_users(kfp: KfpDouble, monkeypatch, key):
    """It answers for itself, and older ones by another name than the API."""
    from pipelines.remote import connect

    answer = type("Answer", (), {"data": f'{{"apiServerReady": true, "{key}": true}}'})
    health = type("Health", (), {"healthz_service_get_healthz": staticmethod(lambda **_: answer)})
    assert connect._serves_several(type("Client", (), {"healthzs": health}), "") is True


def test_a_slow_server_is_given_up(kfp: KfpDouble):
    from pipelines.remote.connect import connect
    from pipelines.remote.errors import KfpError

    kfp.faults = [("GET", "/healthz", "slow")]
    with pytest.raises(KfpError, match="did not answer in time"):
        connect(read_seconds=0.3)
    kfp.faults = [("GET", "/healthz", "slow")]
    assert connect(read_seconds=10).namespace == ""


def test_make_hands_everything_on(kfp: KfpDouble, tmp_path: Path):
    """The Makefile's own line, with a script in the place of Python that writes down what it was given."""
    root = Path(__file__).resolve().parents[2]
    fake = tmp_path / "venv" / "bin"
    fake.mkdir(parents=True)
    (fake / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@" "$KFP_HOST"\n')
    (fake / "python").chmod(0o755)
    # As new as everything that it is made from.
    (fake.parent / ".ready").touch()

    def make(*arguments: str) -> list[str]:
        command = ["make", "-s", "-C", str(root), "-o", f"{fake.parent}/.ready", f"VENV={fake.parent}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    host = "KFP_HOST=http://kfp.test:1"
    given = make("submit", "EXPERIMENT=my experiment", "SEED=3", "SET=training.steps=2 seed=4", host)
    assert given[:4] == ["-m", "pipelines", "submit", "EXPERIMENT=my experiment"]
    # The Makefile's default judge is that of other commands.
    assert "JUDGE=" in given
    assert {"SEED=3", "training.steps=2", "seed=4"} <= set(given)
    assert given[-1] == "http://kfp.test:1"
    assert make("runs", host)[2:4] == ["runs", ""]
    assert make("logs", "RUN=ab", "STEP=score", host)[2:5] == ["logs", "ab", "--step=score"]
    assert make("report", "RUN=ab", host)[2:4] == ["report", "ab"]
    assert make("cancel", "RUN=ab", host)[2:4] == ["cancel", "ab"]
    assert make("compile", "CLUSTER=dev", "ALLOW_TAGS=1")[2:6] == ["compile", "build", "--cluster=dev", "--allow-tags"]
