"""The shipped configurations load, and say what the project promises about them."""

from pathlib import Path

import pytest

from components.core.spec.load import DEFAULT_CONFIGS, load_experiment
from components.core.spec.single import load_judge
from components.judge.profiles import profile_for

LOCAL = ["local-cpu", "local-folder", "local-gpu"]
ON_GPU = ["training.mini_batch_prompts=4", "training.micro_batch=4"]


def _names(folder: str) -> list[str]:
    return sorted(path.stem for path in (DEFAULT_CONFIGS / folder).glob("*.yaml"))


def test_the_promised_files_are_there() -> None:
    assert {"smollm2-135m", "tiny", "qwen2.5-7b", "qwen3-8b"} <= set(_names("policies"))
    assert {"smollm2-lr", "tiny-lr", "external-example", "qwen3-32b", "qwq-plus", "gpt-oss-120b"} <= set(
        _names("judges")
    )
    assert {"likelihood-ratio", "likelihood-ratio-binary"} <= set(_names("rewards"))
    assert {"animal-sentences", "tiny-sentences", "food-sentences"} <= set(_names("datasets"))
    assert {"local-cpu", "local-folder", "local-gpu", "h800"} <= set(_names("clusters"))
    assert {"quickstart", "tiny", "second"} <= set(_names("experiments"))
    assert {f"{start}verinstruct_{arm}" for start in ("", "tiny_") for arm in ARMS} <= set(_names("experiments"))


@pytest.mark.parametrize("experiment", _names("experiments"))
def test_every_experiment_loads_under_its_file_name(experiment: str) -> None:
    assert load_experiment(experiment).name == experiment.replace("_", "-")


@pytest.mark.parametrize("policy", _names("policies"))
def test_every_policy_loads(policy: str) -> None:
    assert load_experiment("tiny", [f"policy={policy}", "cluster=local-gpu", *ON_GPU]).policy.name == policy


@pytest.mark.parametrize("judge", _names("judges"))
def test_every_judge_loads_where_it_can_be_served(judge: str) -> None:
    alone = load_judge(judge)
    assert alone.name == judge
    if not alone.logprobs:
        return  # The wiring experiment's reward compares log-probabilities.
    for cluster in ["h800"] if alone.serving == "kserve" else LOCAL:
        experiment = load_experiment("tiny", [f"judge={judge}", f"cluster={cluster}", *ON_GPU])
        assert experiment.judge.name == judge


def test_three_families_of_judges_come_in_two_sizes() -> None:
    sizes: dict[str, set[int]] = {}
    for name in _names("judges"):
        judge = load_judge(name)
        if judge.serving == "kserve" and judge.parameters is not None:
            sizes.setdefault(judge.family, set()).add(judge.parameters)
    assert sum(len(found) >= 2 for found in sizes.values()) >= 3


def test_the_judge_that_only_streams_is_streamed() -> None:
    judge = load_judge("qwq-plus")
    profile = profile_for(judge, judge.endpoint or "")
    assert (profile.name, profile.streams(judge)) == ("dashscope", True)
    assert profile.chat_route == "/compatible-mode/v1/chat/completions"


@pytest.mark.parametrize("reward", _names("rewards"))
def test_every_reward_loads(reward: str) -> None:
    needs = {
        "rubric-token": ["judge.answer_logprobs=true"],
        "rule-only": [
            "data.criteria=[{text: it is kind}, {text: 4 to 40 words, verifier: rule, "
            "rule: {name: word_count_range, min_count: 4, max_count: 40}}]"
        ],
    }
    name = "tiny_workflow" if reward == "workflow" else "tiny"
    assert load_experiment(name, [f"reward={reward}", *needs.get(reward, [])]).reward.name == reward


@pytest.mark.parametrize("data", _names("datasets"))
def test_every_dataset_loads(data: str) -> None:
    # The golds of a mixture decide: a reward that asks a judge is refused.
    needs = ["reward=rule-only"] if data.startswith("mixed-") else []
    assert load_experiment("tiny", [f"data={data}", *needs]).data.name == data


def test_quickstart_is_the_documented_run() -> None:
    experiment = load_experiment("quickstart")
    training = experiment.training
    assert (training.steps, training.prompts_per_step, training.rollouts_per_prompt) == (10, 4, 4)
    assert (training.max_prompt_tokens, training.max_response_tokens) == (48, 24)
    assert (training.learning_rate, training.temperature, training.kl_coefficient) == (3e-5, 0.8, 0.0)
    assert training.checkpoint_every == 5
    assert experiment.policy.parameters == 134_515_008
    assert experiment.policy.dtype == "float32"
    assert experiment.judge.logprobs
    assert experiment.judge.weak
    assert (experiment.reward.value, experiment.reward.temperature) == ("probability", 4.0)
    assert (experiment.data.train_rows, experiment.data.heldout_rows) == (256, 96)
    assert [line.text for line in experiment.data.criteria] == ["mentions an animal"]
    gold = experiment.data.gold
    assert (gold.word_list, gold.min_words, gold.max_words, gold.echo) == ("animals", 4, 40, True)
    assert (experiment.cluster.store.kind, experiment.cluster.memory_gib, experiment.cluster.disk_gib) == (
        "embedded_s3",
        12.0,
        12.0,
    )


ARMS = ("rl", "ruscarl", "rl_verif", "ruscarl_verif")


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(("ending", "policy"), [("", "qwen2.5-7b"), ("_qwen3", "qwen3-8b")])
def test_the_judge_studys_arms_have_the_published_settings(arm: str, ending: str, policy: str) -> None:
    """FACTS A.9: RuscaRL's run on Qwen2.5-7B-Instruct."""
    experiment = load_experiment(f"verinstruct_{arm}{ending}")
    training, evaluation = experiment.training, experiment.evaluation
    assert experiment.policy.name == policy
    assert (training.steps, training.prompts_per_step, training.mini_batch_prompts) == (350, 64, 32)
    assert (training.micro_batch, training.rollouts_per_prompt) == (4, 8)
    assert (training.learning_rate, training.kl_coefficient, training.entropy_coefficient) == (1e-6, 0.001, 0.0)
    assert (training.max_prompt_tokens, training.max_response_tokens) == (4096, 4096)
    assert (training.temperature, training.top_p, training.top_k) == (0.7, 0.8, 20)
    assert (evaluation.temperature, evaluation.top_p, evaluation.top_k) == (0.7, 0.8, 20)
    assert (evaluation.samples, evaluation.max_response_tokens) == (8, 4096)
    assert training.checkpoint_every < training.steps
    assert (experiment.cluster.gpus, experiment.cluster.gpus_per_node, experiment.cluster.tensor_parallel) == (4, 8, 2)
    assert experiment.evaluation.ifeval is not None
    assert experiment.evaluation.ifeval.temperature == 0
    # RuscaRL, version 1: midpoint 0.2 and steepness 125.
    shown = training.scaffold and (training.scaffold.midpoint, training.scaffold.steepness)
    assert shown == ((0.2, 125.0) if arm.startswith("ruscarl") else None)
    assert experiment.reward.combine == ("verif" if arm.endswith("verif") else "rubric")
    assert experiment.data.kind == ("verif_rows" if arm.endswith("verif") else "rubric_rows")


def test_every_arm_has_a_judge_key_of_its_own() -> None:
    names = [f"verinstruct_{arm}{ending}" for arm in ARMS for ending in ("", "_qwen3")]
    keys = {load_experiment(name).judge.api_key_env for name in names}
    assert len(keys - {None}) == len(names)


@pytest.mark.parametrize("arm", ARMS)
def test_the_small_arms_differ_as_the_large_ones_do(arm: str) -> None:
    small, large = load_experiment(f"tiny_verinstruct_{arm}"), load_experiment(f"verinstruct_{arm}")
    assert small.reward.combine == large.reward.combine
    assert small.data.kind == large.data.kind
    assert small.data.constraints == large.data.constraints
    assert (small.training.scaffold is None) is (large.training.scaffold is None)


def test_judge_of_the_wiring_test_is_not_its_policy() -> None:
    experiment = load_experiment("tiny")
    assert experiment.judge.source != experiment.policy.source


def test_second_experiment_changes_policy_judge_reward_and_topic() -> None:
    first, second = load_experiment("quickstart"), load_experiment("second")
    assert second.policy_identity() != first.policy_identity()
    assert second.judge_identity() != first.judge_identity()
    assert second.reward.value == "binary"
    assert [line.text for line in second.data.criteria] != [line.text for line in first.data.criteria]


def test_configs_carry_no_path_of_one_machine() -> None:
    for path in Path(DEFAULT_CONFIGS).rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert not any(start in text for start in ("/home", "/root", "/work", "/tmp")), path
