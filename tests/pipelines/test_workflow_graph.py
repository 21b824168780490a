"""The graph workflow-rl and its command: which experiment takes it, its order, and that the executor model is up for
training and scoring alike."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core.errors import ConfigError
from components.core.spec import load_experiment
from pipelines import mixed_cli, workflow_cli
from pipelines.catalogue import load_cluster
from pipelines.compile import compile_pipelines
from pipelines.graphs import evaluating_graph, evaluation_steps_of, steps_of, training_graph


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    (path,) = compile_pipelines(
        tmp_path_factory.mktemp("graph"), load_cluster("h800"), names=("workflow-rl",), allow_tags=True
    )
    spec: dict[str, Any] = next(iter(yaml.safe_load_all(path.read_text())))
    return spec


def tasks_of(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All tasks, those inside of the exit handler too."""
    found = dict(spec["root"]["dag"]["tasks"])
    for component in spec["components"].values():
        found |= component.get("dag", {}).get("tasks", {})
    return found


def test_workflows_have_a_graph_of_their_own() -> None:
    experiment = load_experiment("workflow_rl")
    assert training_graph(experiment) == "workflow-rl"
    assert training_graph(load_experiment("mixed_qwen25_7b")) == "mixed-baseline"
    # Though nobody judges, the executor model is brought up and ended.
    assert steps_of(experiment) == (
        *("prepare-data", "deploy-judge", "probe-judge", "train-grpo", "merge-checkpoint", "generate-tasks"),
        *("score-tasks", "report", "teardown-judge"),
    )


def test_the_executor_is_up_before_training_and_ended_whatever_happens(compiled: dict[str, Any]) -> None:
    tasks = tasks_of(compiled)
    after = {name: set(task.get("dependentTasks", ())) for name, task in tasks.items()}
    assert after["deploy-judge"] >= {"prepare-data"}
    assert after["probe-judge"] >= {"deploy-judge"}
    assert after["train-grpo"] >= {"probe-judge", "prepare-data"}
    assert after["score-tasks"] >= {"generate-tasks"}
    assert tasks["teardown-judge"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    # Nothing depends on whether a judge is asked.
    assert not any(task.get("triggerPolicy", {}).get("condition") for task in tasks.values())


def test_a_checkpoint_is_tested_by_a_graph_that_executes_workflows() -> None:
    experiment, plain = load_experiment("workflow_rl"), load_experiment("mixed_qwen25_7b")
    assert evaluating_graph(experiment) == "evaluate-workflows"
    assert evaluation_steps_of(experiment) == (
        *("import-model", "prepare-data", "generate-tasks", "deploy-judge", "probe-judge"),
        *("score-tasks", "teardown-judge"),
    )
    assert evaluation_steps_of(plain) == ("import-model", "prepare-data", "generate-tasks", "score-tasks")


def test_a_policy_that_an_experiment_has_keeps_what_is_said_of_it_there() -> None:
    own = load_experiment("tiny_workflow")
    # The policy by itself has a context of 2,048 tokens, which no prompt of workflows fits into.
    for load in (mixed_cli.mixed_experiment, workflow_cli.workflow_experiment):
        found = load({"MODEL": "tiny", "EXPERIMENT": "tiny_workflow"}, [])
        assert found == own
        assert found.policy.context_tokens == 8192
    with pytest.raises(ConfigError, match=r"policy\.context_tokens: 2048 is smaller"):
        mixed_cli.mixed_experiment({"MODEL": "smollm2-135m", "EXPERIMENT": "tiny_workflow"}, [])
    # Of the same name and yet another model.
    changed = "policy.source={kind: tiny, seed: 5}"
    with pytest.raises(ConfigError, match=r"policy\.context_tokens: 2048 is smaller"):
        mixed_cli.mixed_experiment({"MODEL": "tiny", "EXPERIMENT": "tiny_workflow"}, [changed])


def test_every_policy_of_the_command_has_its_experiment() -> None:
    for policy, name in workflow_cli.EXPERIMENTS.items():
        experiment = workflow_cli.workflow_experiment({"MODEL": policy}, ["seed=5"])
        assert (experiment.policy.name, experiment.name, experiment.seed) == (policy, name.replace("_", "-"), 5)


@pytest.mark.parametrize(
    ("given", "words"),
    [({}, "no model is named"), ({"EXPERIMENT": "mixed_small"}, "has no part workflow")],
)
def test_what_is_no_experiment_of_workflows_is_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        workflow_cli.workflow_experiment(given, [])


def test_the_make_target_is_there() -> None:
    text = (Path(__file__).resolve().parents[2] / "Makefile").read_text()
    assert "\nworkflow: $(VENV)/.ready ##" in text
    assert "KNOWN_workflow := MODEL EXPERIMENT SKIP_DATA SET\n" in text
