"""The graph of a study, compiled: loops over judges and arms, and what follows them whatever became of them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from kfp import compiler

from pipelines.judge_study import judge_study
from pipelines.needs import NEEDS
from pipelines.placing import TITLES, Placing
from pipelines.study_arm import STEPS, study_arm


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("graph") / "study.yaml"
    compiler.Compiler().compile(judge_study(Placing()), str(path))
    found: dict[str, Any] = next(iter(yaml.safe_load_all(path.read_text())))
    return found


def dags(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: each["dag"]["tasks"] for name, each in spec["components"].items() if "dag" in each}


def test_judges_and_arms_are_loops_over_what_the_study_says(spec):
    loops = [task for tasks in dags(spec).values() for task in tasks.values() if "parameterIterator" in task]
    assert len(loops) == 3
    limits = sorted(task.get("iteratorPolicy", {}).get("parallelismLimit", 0) for task in loops)
    # Judges are probed one after the other; how many arms run at once is for the queue to say.
    assert limits == [0, 0, 1]


def test_what_follows_a_loop_runs_whether_it_failed_or_not(spec):
    (inside,) = [tasks for tasks in dags(spec).values() if "study-report" in tasks]
    for name, after in (
        ("study-arms-trained", "study-probes"),
        ("study-crosses", "study-arms-trained"),
        ("study-report", "study-crosses"),
    ):
        assert after in inside[name]["dependentTasks"]
        assert inside[name]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"


def test_the_judges_are_ended_at_the_end_of_the_whole_run_alone(spec):
    root = spec["root"]["dag"]["tasks"]
    assert root["teardown-study"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    assert not any(name.startswith("teardown") for tasks in dags(spec).values() for name in tasks)


def test_every_task_of_a_study_has_a_title_and_needs(spec, tmp_path: Path):
    compiler.Compiler().compile(study_arm(Placing()), str(tmp_path / "arm.yaml"))
    arm = next(iter(yaml.safe_load_all((tmp_path / "arm.yaml").read_text())))
    used = {name for each in (spec, arm) for name in each["deploymentSpec"]["executors"]}
    names = {name.removeprefix("exec-").rstrip("-0123456789") for name in used}
    assert names <= TITLES.keys() == NEEDS.keys()
    assert set(STEPS) <= names
