"""The compiled pipeline, read as a cluster reads it."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.compile import compile_pipelines

DURABLE = {"prepare-data", "train-grpo", "merge-checkpoint", "generate", "score", "generate-ifeval", "ifeval", "report"}
ALWAYS = {"deploy-judge", "probe-judge", "teardown-judge"}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    paths = compile_pipelines(tmp_path_factory.mktemp("build"))
    assert [path.name for path in paths] == ["judged-grpo.yaml", "evaluate.yaml"]
    return paths[0].read_text()


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    text = compile_pipelines(tmp_path_factory.mktemp("build"))[1].read_text()
    return next(document for document in yaml.safe_load_all(text) if "pipelineInfo" in document)


@pytest.fixture(scope="module")
def spec(text: str) -> dict[str, Any]:
    return next(document for document in yaml.safe_load_all(text) if "pipelineInfo" in document)


def all_tasks(spec: dict[str, Any]) -> dict[str, Any]:
    found = dict(spec["root"]["dag"]["tasks"])
    for component in spec["components"].values():
        found |= component.get("dag", {}).get("tasks", {})
    return found


def test_the_steps_are_all_there(spec):
    executed = {name for name, task in all_tasks(spec).items() if name in DURABLE | ALWAYS}
    assert executed == DURABLE | ALWAYS


def test_steps_that_act_on_the_world_are_never_cached_and_the_others_are(spec):
    for name, task in all_tasks(spec).items():
        cached = task.get("cachingOptions", {}).get("enableCache", False)
        if name in ALWAYS:
            assert not cached, name
        elif name in DURABLE:
            assert cached, name


def test_the_judge_is_torn_down_whatever_happens(spec):
    task = spec["root"]["dag"]["tasks"]["teardown-judge"]
    assert task["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"


def test_training_waits_for_the_probe_and_takes_no_endpoint(spec):
    train = all_tasks(spec)["train-grpo"]
    assert set(train["dependentTasks"]) == {"prepare-data", "probe-judge"}
    parameters = train["inputs"]["parameters"]
    assert set(parameters) == {"experiment", "store", "code_version"}


def test_no_secret_and_no_latest_tag(text: str):
    assert not re.search(r"s" r"k-[A-Za-z0-9]{8,}", text)
    assert "secretKey" not in text
    assert not re.search(r"image: .*:latest", text)


def test_components_are_short_and_only_import_their_work(spec):
    for executor in spec["deploymentSpec"]["executors"].values():
        command = "\n".join(executor["container"]["command"])
        assert "pip install" not in command
        (function,) = ast.parse(command[command.index("def ") :]).body
        assert len(ast.unparse(function).splitlines()) <= 15


def test_images_come_from_the_environment_when_given(tmp_path: Path):
    import os
    import subprocess
    import sys

    digest = "example.test/gavel/trainer@sha256:" + "0" * 64
    environment = {**os.environ, "GAVEL_IMAGE_TRAINER": digest}
    command = [sys.executable, "-m", "pipelines", "compile", str(tmp_path)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert digest in (tmp_path / "judged-grpo.yaml").read_text()


def test_ifeval_is_started_only_where_it_is_asked_for(spec):
    asked = {name: task for name, task in all_tasks(spec).items() if "condition" in task.get("triggerPolicy", {})}
    assert len(asked) == 2
    reached = {name for component in spec["components"].values() for name in component.get("dag", {}).get("tasks", {})}
    assert {"generate-ifeval", "ifeval", "report"} <= reached
    assert spec["root"]["inputDefinitions"]["parameters"]["ifeval"]["defaultValue"] is False


def test_an_evaluation_takes_the_checkpoint_and_trains_nothing(evaluation):
    tasks = all_tasks(evaluation)
    assert "train-grpo" not in tasks
    assert set(tasks["import-model"]["inputs"]["parameters"]) >= {"checkpoint", "experiment"}
    assert "checkpoint" in evaluation["root"]["inputDefinitions"]["parameters"]
    assert tasks["teardown-judge"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    assert not tasks["import-model"].get("cachingOptions", {}).get("enableCache", False)
    assert "probe-judge" in tasks["score-generations"]["dependentTasks"]
