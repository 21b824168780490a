"""What a change of workflow RL repeats: everything of experiments with workflows that it decides, nothing of others."""

from pathlib import Path

import pytest

from components.core.spec import Experiment, load_experiment
from components.core.step import Step
from components.core.step.source import ROOT, reached_files
from components.data.step import STEP as PREPARE
from components.generate_tasks.step import STEP as GENERATE
from components.score_tasks.step import STEP as SCORE
from components.train.step import STEP as TRAIN
from components.workflow.prompts.layer2 import FOLDER, enhancements_identity, enhancer

STEPS = pytest.mark.parametrize("step", [PREPARE, TRAIN, GENERATE, SCORE], ids=lambda step: step.name)


def sources(step: Step, experiment: Experiment) -> set[str]:
    found = reached_files((step.module, *step.extra_modules), unused=step.unused(experiment))
    return {path.relative_to(ROOT).as_posix() for path in found}


@STEPS
def test_without_workflows_their_sources_count_for_nothing(step: Step) -> None:
    found = sources(step, load_experiment("tiny_mixed"))
    # The specification is one for all.
    assert not {name for name in found if "workflow" in name and not name.startswith("components/core/spec/")}
    assert f"{step.module.replace('.', '/')}.py" in found


@STEPS
def test_with_workflows_they_count(step: Step) -> None:
    with_them, without = sources(step, load_experiment("tiny_workflow")), sources(step, load_experiment("tiny_mixed"))
    assert without < with_them
    assert any(name.startswith("components/workflow/") for name in with_them)


@pytest.mark.parametrize("step", [TRAIN, SCORE], ids=lambda step: step.name)
def test_what_executes_them_is_in_what_trains_and_scores(step: Step) -> None:
    wanted = {"operators/custom.py", "operators/custom.txt", "contract/validate.py", "run/inside.py", "broker/meter.py"}
    found = sources(step, load_experiment("tiny_workflow"))
    assert {f"components/workflow/{name}" for name in wanted} <= found
    # What experiments without workflows need too counts for both; only their trainings may ask a judge.
    shared = {
        "train-grpo": {"components/judge/chat.py", "components/tasks/score.py"},
        "score-tasks": {"components/tasks/score.py"},
    }
    assert shared[step.name] <= sources(step, load_experiment("tiny_mixed"))


@pytest.mark.parametrize("step", [TRAIN, SCORE], ids=lambda step: step.name)
def test_texts_of_layer_two_are_part_of_the_identity(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = load_experiment("tiny_workflow")
    told = step.depends(experiment)
    assert isinstance(told, dict)
    assert told["enhancements"] == enhancer("default", experiment.workflow.executor.name).digest
    for other in (load_experiment("tiny_mixed"), load_experiment("tiny_workflow", ["workflow.enhancements=null"])):
        plain = step.depends(other)
        assert isinstance(plain, dict)
        assert "enhancements" not in plain


def test_another_text_is_another_identity_where_it_reaches_the_executor(tmp_path: Path) -> None:
    experiment = load_experiment("workflow_rl")
    name = experiment.workflow.executor.name

    def identity(special: str, general: str) -> dict[str, str]:
        own = tmp_path / "default" / "executors" / name
        own.mkdir(parents=True, exist_ok=True)
        (own / "math.yaml").write_text(f"Custom: {special}\n")
        (tmp_path / "default" / "math.yaml").write_text(f"Custom: {general}\nReview: Look.\n")
        return enhancements_identity(experiment, tmp_path)

    first = identity("Think.", "Hm.")
    assert identity("Think twice.", "Hm.") != first
    # The executor's own text wins, so that the general one is never asked.
    assert identity("Think.", "Aha.") == first
    assert enhancements_identity(experiment, FOLDER) == enhancements_identity(experiment)
