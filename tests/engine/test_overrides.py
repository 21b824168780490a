"""What we render is what verl's own configuration takes, and means."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.spec import load_experiment
from components.engine.overrides import TrainingPaths, _text, environment_overrides, verl_overrides

PATHS = TrainingPaths(Path("/m o,d=e'l"), Path("/d/train.parquet"), Path("/c"))


def compose(*changes: str, experiment: str = "quickstart") -> Any:
    pytest.importorskip("verl")
    import verl.trainer
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    folder = str(Path(verl.trainer.__file__).parent / "config")
    with initialize_config_dir(folder, version_base=None):
        return hydra_compose("ppo_trainer", verl_overrides(load_experiment(experiment, list(changes)), PATHS))


def test_the_quickstart_means_to_verl_what_it_says():
    config = compose("training.learning_rate=2.0e-5", "training.steps=7", "seed=11")
    actor, rollout = config.actor_rollout_ref.actor, config.actor_rollout_ref.rollout
    assert config.algorithm.adv_estimator == "gavel_grpo"
    assert config.data.train_batch_size == 4
    assert config.data.seed == 11
    assert config.data.train_files == "/d/train.parquet"
    assert config.actor_rollout_ref.model.path == "/m o,d=e'l"
    assert actor.optim.lr == pytest.approx(2e-5)
    assert actor.use_kl_loss is False
    assert (rollout.name, rollout.n, rollout.response_length) == ("hfcpu", 4, 24)
    assert config.trainer.total_training_steps == 7
    assert config.trainer.resume_mode == "auto"
    assert actor.fsdp_config.mixed_precision.param_dtype == "fp32"


def test_one_process_judges_and_no_manager_turns_failures_into_zero():
    config = compose()
    assert config.reward.num_workers == 1
    assert config.reward.reward_manager.source == "importlib"
    assert config.reward.reward_manager.name == "GavelRewardManager"


def test_two_checkpoints_are_kept_at_least_since_verl_removes_before_it_writes():
    assert compose("training.keep_checkpoints=1").trainer.max_actor_ckpt_to_keep == 2
    assert compose("training.keep_checkpoints=5").trainer.max_actor_ckpt_to_keep == 5


def test_nothing_is_sent_to_a_tracker_on_the_network():
    assert list(compose().trainer.logger) == ["console", "tensorboard", "file"]


def test_a_kl_penalty_brings_the_reference_model():
    config = compose("training.kl_coefficient=0.01")
    assert config.actor_rollout_ref.actor.use_kl_loss is True
    assert config.actor_rollout_ref.actor.kl_loss_coef == pytest.approx(0.01)


def test_lora_is_merged_into_what_the_rollout_gets():
    config = compose("training.lora={rank: 8, alpha: 16, targets: [q_proj, v_proj]}")
    model = config.actor_rollout_ref.model
    assert (model.lora_rank, model.lora_alpha, list(model.target_modules)) == (8, 16, ["q_proj", "v_proj"])
    assert model.lora.merge is True
    assert compose("training.lora={rank: 8}").actor_rollout_ref.model.target_modules == "all-linear"


def test_a_chat_template_with_hydras_own_signs_arrives_as_it_is(tmp_path: Path):
    template = "{% for m in messages %}{{ m['role'] }}: {{ m.content }}, a=b \\n\n{% endfor %}"
    (tmp_path / "t.jinja").write_text(template)
    config = compose(f"policy.chat_template={tmp_path / 't.jinja'}")
    assert config.actor_rollout_ref.model.custom_chat_template == template


def test_on_gpus_vllm_samples_and_old_log_probs_are_computed_again():
    config = compose(
        "cluster={name: g, placement: local, accelerator: gpu, gpus: 4, gpus_per_node: 8, tensor_parallel: 2,"
        " store: {kind: folder}, memory_gib: 1, disk_gib: 1}",
        "judge=external-example",
        "training.micro_batch=4",
    )
    assert config.actor_rollout_ref.rollout.name == "vllm"
    assert config.actor_rollout_ref.rollout.tensor_model_parallel_size == 2
    assert config.algorithm.rollout_correction.bypass_mode is False
    assert (config.trainer.n_gpus_per_node, config.trainer.nnodes) == (4, 1)


GPU = (
    "cluster={name: g, placement: local, accelerator: gpu, gpus: 1, gpus_per_node: 1,"
    " store: {kind: folder}, memory_gib: 1, disk_gib: 1}"
)


@pytest.mark.parametrize(("dtype", "precision"), [("float32", "fp32"), ("bfloat16", "bf16")])
def test_vllm_samples_in_the_precision_that_is_trained(dtype: str, precision: str):
    config = compose(GPU, f"policy.dtype={dtype}").actor_rollout_ref
    assert (config.rollout.dtype, config.actor.fsdp_config.mixed_precision.param_dtype) == (dtype, precision)


def test_a_local_ray_has_room_for_all_of_verls_actors():
    for cluster in (GPU, "cluster=local-cpu"):
        config = compose(cluster)
        assert config.ray_kwargs.ray_init.num_cpus >= 16
        assert config.transfer_queue.backend.SimpleStorage.num_data_storage_units == 1


@pytest.mark.parametrize("name", ["quickstart", "tiny", "second"])
def test_every_shipped_experiment_composes(name: str):
    assert compose(experiment=name).trainer.experiment_name == name


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_hydra_reads_back_any_text(text: str):
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed = OverridesParser.create().parse_override(f"a={_text(text)}")
    assert str(parsed.value()) == text


def test_inside_a_job_verl_joins_the_ray_that_is_there(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("verl")
    import verl.trainer
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    monkeypatch.setenv("SAME", "1")
    folder = str(Path(verl.trainer.__file__).parent / "config")
    overrides = verl_overrides(load_experiment("dev_cluster"), PATHS)
    overrides += environment_overrides({"SAME": "1", "GAVEL_REWARD_SETTINGS": "/w o'rk,=/reward.json"})
    with initialize_config_dir(folder, version_base=None):
        config = hydra_compose("ppo_trainer", overrides)
    asked = config.ray_kwargs.ray_init
    # Ray refuses these where it is joined.
    assert asked.get("num_cpus") is None
    assert not {"num_gpus", "object_store_memory", "include_dashboard"} & set(asked)
    assert dict(asked.runtime_env.env_vars) == {"GAVEL_REWARD_SETTINGS": "/w o'rk,=/reward.json"}
    assert config.trainer.device == "cpu"
    assert config.transfer_queue.backend.SimpleStorage.num_data_storage_units == 1


def test_a_job_on_gpus_says_how_many_nodes_there_are():
    config = compose("cluster=h800", "cluster.gpus=16", experiment="verinstruct_rl_qwen3")
    assert (config.trainer.nnodes, config.trainer.n_gpus_per_node) == (2, 8)
    assert config.ray_kwargs.ray_init.get("num_cpus") is None


@pytest.mark.parametrize("experiment", ["mixed_qwen25_7b", "mixed_qwen3_8b"])
def test_the_mixed_baseline_trains_adapters_of_rank_64_on_a_draw_in_shares(experiment: str):
    config = compose(experiment=experiment)
    assert config.actor_rollout_ref.model.lora_rank == 64
    assert config.actor_rollout_ref.model.target_modules == "all-linear"
    assert config.data.gavel_draw == "/d/draw.json"
    assert config.data.filter_overlong_prompts is True
    assert config.data.filter_overlong_prompts_workers == 8


def test_other_data_keep_verls_own_order_and_all_their_rows():
    config = compose()
    assert "gavel_draw" not in config.data
    assert config.data.filter_overlong_prompts is False
