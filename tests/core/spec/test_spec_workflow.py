"""The part workflow: what it takes, what contradicts it, and which results depend on it."""

import pytest

from components.core.errors import ConfigError
from components.core.spec import Experiment, load_experiment
from components.core.spec.load import DEFAULT_CONFIGS

PRICE = "workflow.executor.price={prompt: 0.15, completion: 0.6}"


@pytest.mark.parametrize("name", ["workflow_rl", "workflow_small", "tiny_workflow"])
def test_shipped_experiments_resolve_all_names(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.workflow is not None
    assert experiment.workflow.reward.variant == "gated"
    assert [model.name for model in experiment.served()] == [experiment.workflow.executor.name]
    assert not experiment.asks_judge
    assert Experiment.from_json(experiment.to_json()) == experiment


def test_the_original_values_are_shipped() -> None:
    experiment = load_experiment("workflow_rl")
    training, workflow, mixture = experiment.training, experiment.workflow, experiment.data.mixture
    assert (training.temperature, training.learning_rate, training.steps) == (0.3, 5e-6, 500)
    assert training.rollouts_per_prompt == 6
    assert training.lora is not None
    assert (training.lora.rank, training.lora.alpha) == (64, 64)
    assert workflow is not None
    assert (workflow.executor.name, workflow.examples, workflow.buffer.capacity) == ("gpt-oss-120b", 3, 100)
    assert mixture is not None
    assert mixture.weights.model_dump() == {"math": 4.0, "qa": 3.0, "code": 3.0}
    small = load_experiment("workflow_small").training
    assert (small.steps, small.rollouts_per_prompt) == (3, 6)


@pytest.mark.parametrize(
    ("overrides", "key", "words"),
    [
        (["reward=rule-only"], "reward.combine", "rewards would not be used"),
        (["workflow=null"], "reward.combine", "has no part workflow"),
        (["data=tiny-sentences", "evaluation.tasks=null"], "data.kind", "answer the problems of task sets"),
        (["data.mixture.decided_by.qa=judge"], "data.mixture.decided_by.qa", "decided by gold"),
        (["workflow.correctness.qa=judge"], "data.mixture.decided_by.qa", "decided by judge"),
        (["data.mixture.decided_by.code=judge"], "data.mixture.decided_by.code", "code always by tests"),
        (["workflow.executor.serving=kserve"], "workflow.executor.serving", "needs a Kubernetes cluster"),
        (["workflow.executor=nobody"], "workflow.executor", "there is no file"),
        (["workflow.reward=nothing"], "workflow.reward", "there is no file"),
        (["workflow.reward=as-described"], "workflow.reward.efficiency.unit", "has no price"),
        (["workflow.executor.max_answer_tokens=2048"], "workflow.executor.max_answer_tokens", "leaves no room"),
        (["workflow.example_tokens=6000"], "policy.context_tokens", "workflow.example_tokens 6000"),
        (["workflow.executor.name=tiny-lr"], "workflow.executor.name", "a judge's name too"),
        (["workflow.executor.name=rule"], "workflow.executor.name", "stands for verdicts"),
        (["workflow.budget.calls=0"], "workflow.budget.calls", "out of range"),
        (["workflow.correctness.code=judge"], "workflow.correctness.code", "unknown key"),
        (["reward.clip=false"], "reward.clip", "no effect with combine workflow"),
    ],
)
def test_what_cannot_work_is_refused(overrides: list[str], key: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_experiment("tiny_workflow", overrides)
    assert key in str(caught.value)
    assert words in str(caught.value)


def test_several_nodes_have_no_examples() -> None:
    nodes = [
        "cluster.gpus=16",
        "training.prompts_per_step=8",
        "training.mini_batch_prompts=8",
        "training.micro_batch=1",
    ]
    with pytest.raises(ConfigError, match=r"workflow\.examples: 3, but cluster\.gpus 16"):
        load_experiment("workflow_rl", nodes)
    assert load_experiment("workflow_rl", [*nodes, "workflow.examples=0"]).cluster.gpus == 16


def test_the_described_formula_takes_a_price() -> None:
    experiment = load_experiment("workflow_rl", ["workflow.reward=as-described", PRICE])
    assert experiment.workflow is not None
    # 0.65 x -10 where the execution fails, and 6.5 + 1.5 + 1.0 + 0.1 + 0.1, the sign error included.
    assert experiment.workflow.reward.scale == (-6.5, pytest.approx(9.2))


def test_single_values_of_named_parts_can_be_set() -> None:
    experiment = load_experiment(
        "tiny_workflow", ["workflow.executor=smollm2-chat", "workflow.executor.temperature=0.5", "workflow.examples=0"]
    )
    assert experiment.workflow is not None
    assert (experiment.workflow.executor.name, experiment.workflow.executor.temperature) == ("smollm2-chat", 0.5)
    assert experiment.workflow.room == 0


def test_a_judge_that_decides_is_served_beside_the_executor() -> None:
    asked = ["workflow.correctness.qa=judge", "data.mixture.decided_by.qa=judge"]
    experiment = load_experiment("tiny_workflow", [*asked, "workflow.executor=tiny-lr"])
    # One model may do both.
    assert [model.name for model in experiment.served()] == ["tiny-lr"]
    both = load_experiment("tiny_workflow", asked)
    assert [model.name for model in both.served()] == ["tiny-lr", "tiny-chat"]
    assert "judge" in both.rewarding_identity()


@pytest.mark.parametrize(
    ("change", "differ"),
    [
        ("workflow.executor.temperature=0.5", {"rewarding", "workflow"}),
        ("workflow.budget.calls=3", {"rewarding", "workflow"}),
        ("workflow.reward.format.mixed=0.5", {"rewarding", "workflow"}),
        ("workflow.enhancements=null", {"rewarding", "workflow"}),
        ("workflow.examples=1", {"rewarding"}),
        ("workflow.buffer.threshold=0.5", {"rewarding"}),
        ("workflow.executor.timeout_seconds=7", set()),
        ("workflow.executor.max_concurrency=3", set()),
        ("workflow.reward.name=other", set()),
        ("judge=smollm2-lr", set()),
    ],
)
def test_results_depend_on_what_decides_them(change: str, differ: set[str]) -> None:
    plain, other = load_experiment("tiny_workflow"), load_experiment("tiny_workflow", [change])
    kinds = ("rewarding", "workflow", "data", "policy", "training", "generation", "tasks")
    found = {kind for kind in kinds if getattr(plain, f"{kind}_identity")() != getattr(other, f"{kind}_identity")()}
    assert found == differ


def test_prompts_for_workflows_make_other_data() -> None:
    workflow = load_experiment("tiny_workflow")
    mixed = load_experiment("tiny_mixed")
    assert {**mixed.data_identity(), "prompts": "workflow"} == workflow.data_identity()
    assert mixed.workflow_identity() is None


def test_every_ladder_is_shipped_by_its_name() -> None:
    assert {path.stem for path in (DEFAULT_CONFIGS / "ladders").glob("*.yaml")} == {"workflow", "as-described"}
