"""What a plan refuses, and the limit beside it that it does not."""

from collections.abc import Callable, Sequence

import pytest

from components.core.spec import Experiment
from components.core.spec.problems import Problem
from components.planning.assumptions import Assumptions
from components.planning.plan import make_plan

Make = Callable[..., Experiment]


def _problems(*experiments: Experiment) -> Sequence[Problem]:
    return make_plan(experiments, Assumptions(again=0.0)).problems


def _named(experiment: Experiment, name: str) -> Experiment:
    return experiment.model_copy(update={"name": name})


def test_what_fits_has_no_problem(on_h800: Make, chat: Make) -> None:
    assert _problems(on_h800()) == []
    assert _problems(chat()) == []


def test_a_policy_too_large(on_h800: Make) -> None:
    """14 Gi weights on four GPUs: 14 + 28 and half of 80 are 82 of 80 GiB."""
    (problem,) = _problems(on_h800(f"policy.parameters={14 * 2**30}"))
    assert problem.key == "cluster.gpus"
    assert "weights 14.0 + AdamW 28.0 + vLLM 40.0 GiB on each GPU, of 80.0" in problem.what
    assert "cluster.gpus" in problem.remedy


def test_a_judge_too_large(on_h800: Make) -> None:
    (problem,) = _problems(on_h800("judge.deployment.weight_gib=144"))
    assert problem.key == "judge.deployment.tensor_parallel"
    assert "72.0 GiB on each GPU, of 72.0" in problem.what
    assert _problems(on_h800("judge.deployment.weight_gib=143")) == []


def test_nodes_too_few_for_all_at_once(on_h800: Make) -> None:
    """Three trainings of four GPUs and one judge of two are 14 of 16; a fourth one is too many."""
    runs = [_named(on_h800(), f"run-{number}") for number in range(4)]
    assert _problems(*runs[:3]) == []
    nodes, queue = _problems(*runs)
    assert nodes.key == "cluster.kubernetes.pools.h800"
    assert "18 GPUs" in nodes.what
    assert "run-0" in nodes.what
    assert queue.key == "cluster.kubernetes.queue_gpus"
    assert "18 GPUs are asked for at once, and queue gavel grants 16" in queue.what


def test_trainings_that_wait_for_one_another_need_room_for_one_beside_the_judges(on_h800: Make) -> None:
    """Four GPUs of a training and two of the judge: six are enough for any number of arms, five are not."""
    assumed = Assumptions(again=0.0)
    runs = [_named(on_h800("cluster.kubernetes.queue_gpus=6"), f"run-{number}") for number in range(9)]
    assert make_plan(runs, assumed, queued=True).problems == []
    runs = [_named(on_h800("cluster.kubernetes.queue_gpus=5"), f"run-{number}") for number in range(9)]
    (problem,) = make_plan(runs, assumed, queued=True).problems
    assert "6 GPUs are asked for at once, and queue gavel grants 5" in problem.what


def test_a_message_names_some_of_many(on_h800: Make) -> None:
    """Nine trainings of two pods each beside the submitters and the judge."""
    nodes, _ = _problems(*(_named(on_h800(), f"run-{number}") for number in range(9)))
    assert nodes.what.count("training run-") == 12
    assert nodes.what.endswith(" more)")


def test_a_queue_smaller_than_the_nodes(on_h800: Make) -> None:
    assert _problems(on_h800("cluster.kubernetes.queue_gpus=6")) == []
    (problem,) = _problems(on_h800("cluster.kubernetes.queue_gpus=5"))
    assert "6 GPUs are asked for at once, and queue gavel grants 5" in problem.what


def test_generation_that_no_node_holds_beside_the_judge(on_h800: Make) -> None:
    """Two nodes of four train on four GPUs each; one copy over eight fits on neither."""
    small = ["training.prompts_per_step=8", "training.mini_batch_prompts=8", "training.micro_batch=1"]
    small += ["cluster.gpus=8", "cluster.gpus_per_node=4", "cluster.kubernetes.pools.h800.gpus=4"]
    small += ["cluster.kubernetes.pools.h800.nodes=3"]
    assert _problems(on_h800(*small, "cluster.tensor_parallel=4")) == []
    (problem,) = _problems(on_h800(*small, "cluster.tensor_parallel=8"))
    assert "generation of tiny" in problem.what
    assert "3 nodes of 4 GPUs" in problem.what


def test_gpus_that_no_single_node_has_free(on_h800: Make) -> None:
    """Two trainings of 7 leave one GPU on each node, and the judge wants two on one."""
    batch = ["training.prompts_per_step=7", "training.mini_batch_prompts=7", "training.micro_batch=1"]
    make = [*batch, "cluster.gpus=7", "cluster.tensor_parallel=7"]
    assert _problems(on_h800(*make)) == []
    (problem,) = _problems(_named(on_h800(*make), "a"), _named(on_h800(*make), "b"))
    assert "16 GPUs" in problem.what
    assert "2 nodes of 8 GPUs" in problem.what


@pytest.mark.parametrize(
    ("budget", "good", "bad"),
    [
        # 80 samples, one criterion each, one call a criterion.
        ("calls", "80", "79"),
        # 80 x (template and criterion / 4 + half of 80) read and 80 x 50 written; see test_planning_tokens.
        ("tokens", "100000", "4000"),
        ("cost", "1.0", "0.0001"),
    ],
)
def test_a_budget_below_what_is_expected(chat: Make, budget: str, good: str, bad: str) -> None:
    price = "judge.price={prompt: 1.0, completion: 1.0}"
    assert _problems(chat(price, f"judge.budget.{budget}={good}")) == []
    (problem,) = _problems(chat(price, f"judge.budget.{budget}={bad}"))
    assert problem.key == f"judge.budget.{budget}"
    assert "expected" in problem.what


def test_what_a_budget_needs_is_enough(chat: Make) -> None:
    (problem,) = _problems(chat("judge.budget.tokens=1"))
    enough = int(problem.remedy.split()[3])
    assert _problems(chat(f"judge.budget.tokens={enough}")) == []
    assert len(_problems(chat(f"judge.budget.tokens={enough - 1}"))) == 1


def test_shares_of_one_key(chat: Make) -> None:
    def arm(name: str, share: float, key: str = "JUDGE_KEY") -> Experiment:
        return _named(chat(f"judge.api_key_env={key}", f"judge.limits.share={share}"), name)

    assert _problems(arm("a", 0.5), arm("b", 0.5)) == []
    assert _problems(arm("a", 1.0), arm("b", 1.0, "OTHER_KEY")) == []
    # 0.1 ten times is one, whatever floating point makes of it.
    assert _problems(*(arm(f"a{number}", 0.1) for number in range(10))) == []
    (problem,) = _problems(arm("a", 0.5), arm("b", 0.6))
    assert problem.key == "judge.limits.share"
    assert "JUDGE_KEY" in problem.what
    assert "sum to 1.1: a 0.5, b 0.6" in problem.what


def test_further_keys_and_servers_without_keys_count_too(chat: Make) -> None:
    both = ["judge.api_key_env=FIRST", "judge.more_key_envs=[SHARED]"]
    (problem,) = _problems(_named(chat(*both), "a"), _named(chat("judge.api_key_env=SHARED"), "b"))
    assert problem.what.startswith("SHARED is used by 2")
    (problem,) = _problems(_named(chat(), "a"), _named(chat(), "b"))
    assert problem.what.startswith("http://judge.ns.svc:8000 is used by 2")


def test_one_name_is_one_service(on_h800: Make) -> None:
    same = _named(on_h800("judge.timeout_seconds=5"), "b")
    assert _problems(_named(on_h800(), "a"), same) == []
    assert len(make_plan([on_h800(), same], Assumptions()).judges) == 1
    (problem,) = _problems(_named(on_h800(), "a"), _named(on_h800("judge.deployment.cpus=4"), "b"))
    assert "judge qwen3-32b of b differs from that of a in deployment" in problem.what


def test_one_cluster_has_one_description(on_h800: Make) -> None:
    other = on_h800("cluster.kubernetes.pools.h800.nodes=5")
    (problem,) = _problems(_named(on_h800(), "a"), _named(other, "b"))
    assert problem.key == "cluster.kubernetes"


def test_the_shipped_arms_fit_two_at_a_time() -> None:
    from components.core.spec import load_experiment

    arms = [load_experiment(f"verinstruct_{arm}") for arm in ("rl", "ruscarl")]
    assert _problems(*arms) == []
    assert _problems(load_experiment("dev_cluster")) == []
