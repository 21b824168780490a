"""The experiment as verl's configuration: one list of hydra overrides."""

import dataclasses
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from components.core.draw import NAME as DRAW
from components.core.spec.experiment import Experiment
from components.engine.agent_loops import AGENT_LOOPS, SCAFFOLD_LOOP, WORKFLOW_LOOP
from components.engine.cpu import PLATFORM_MODULE, ROLLOUT_MODULE, ROLLOUT_NAME
from components.engine.trackers import loggers
from components.engine.updates import ENGINE_MODULE

_W = "actor_rollout_ref"

# One storage actor instead of eight: a single machine's samples are few.
_ONE_STORAGE = "transfer_queue.backend.SimpleStorage.num_data_storage_units=1"


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingPaths:
    """Where a training run reads and writes.

    Attributes:
        model: the policy's Hugging Face folder.
        data: parquet with the training prompts.
        checkpoints: verl's checkpoint folder, kept between starts.
    """

    model: Path
    data: Path
    checkpoints: Path


def verl_overrides(experiment: Experiment, paths: TrainingPaths) -> list[str]:
    """Render the hydra overrides for ``python -m verl.trainer.main_ppo`` (verl 0.9.1).

    Args:
        experiment: validated; its impossible combinations were refused before.
        paths: absolute.

    Returns:
        Overrides in hydra's grammar, in a fixed order.
    """
    cpu = experiment.cluster.accelerator == "cpu"
    parts = [
        _algorithm(experiment, cpu),
        _data(experiment, paths, cpu),
        _model(experiment, paths),
        _actor(experiment),
        _rollout(experiment, cpu),
        _reward(),
        _trainer(experiment, paths),
        _local(experiment) if experiment.cluster.placement == "local" else _joined(cpu),
        ["trainer.device=cpu"] if cpu else [],
    ]
    return [override for part in parts for override in part]


def _text(value: object) -> str:
    """A value quoted for hydra's grammar, in which a backslash means itself unless a quote follows it."""
    quoted = re.sub(r"(\\*)('|$)", lambda match: match[1] * 2 + ("\\'" if match[2] else ""), str(value))
    return f"'{quoted}'"


def _algorithm(experiment: Experiment, cpu: bool) -> list[str]:
    scaffold = experiment.training.scaffold
    return [
        "algorithm.adv_estimator=gavel_grpo",
        "algorithm.norm_adv_by_std_in_grpo=True",
        "algorithm.use_kl_in_reward=False",
        # The CPU rollout and the trainer hold the same float32 weights, so the rollout's log-probabilities are the old
        # ones, and a forward pass a step is saved. vLLM's differ from the trainer's and are recomputed.
        # With a scaffold the response was sampled after another prompt than the trainer's: the published method
        # computes the old log-probabilities on the plain prompt, the corrected one keeps those of the sampling.
        f"algorithm.rollout_correction.bypass_mode={cpu if scaffold is None else scaffold.corrected}",
    ]


def _data(experiment: Experiment, paths: TrainingPaths, cpu: bool) -> list[str]:
    training = experiment.training
    return [
        f"data.train_files={_text(paths.data)}",
        f"data.val_files={_text(paths.data)}",
        f"data.train_batch_size={training.prompts_per_step}",
        "+data.gen_batch_size=1",
        f"data.max_prompt_length={training.max_prompt_tokens}",
        f"data.max_response_length={training.max_response_tokens}",
        "data.truncation=error",
        "data.dataloader_num_workers=0",
        f"data.seed={experiment.seed}",
        *_draw(experiment, paths, cpu),
    ]


def _draw(experiment: Experiment, paths: TrainingPaths, cpu: bool) -> list[str]:
    """A mixture that is drawn by weights has a plan beside its rows; a materialised one is shuffled as any table.

    Contexts of questions differ much in length, and verl would cut the beginning of a prompt that is too long: rows of
    mixtures that do not fit are left out instead.
    """
    mixture = experiment.data.mixture
    if mixture is None:
        return ["data.filter_overlong_prompts=False"]
    fitting = ["data.filter_overlong_prompts=True", f"data.filter_overlong_prompts_workers={'null' if cpu else 8}"]
    drawn = [f"+data.gavel_draw={_text(paths.data.with_name(DRAW))}"] if mixture.draw == "weights" else []
    return [*fitting, *drawn]


def _model(experiment: Experiment, paths: TrainingPaths) -> list[str]:
    lora = experiment.training.lora
    rendered = [
        f"{_W}.model.path={_text(paths.model)}",
        f"{_W}.model.use_remove_padding=False",
        f"+{_W}.model.override_config.attn_implementation=sdpa",
        f"{_W}.model.enable_gradient_checkpointing={experiment.cluster.accelerator == 'gpu'}",
        f"{_W}.model.lora_rank={lora.rank if lora else 0}",
        # The CPU's rollout module brings the engine with it: verl imports one module by this name.
        f"{_W}.model.external_lib={ROLLOUT_MODULE if experiment.cluster.accelerator == 'cpu' else ENGINE_MODULE}",
    ]
    if lora:
        rendered += [
            f"{_W}.model.lora_alpha={lora.alpha}",
            f"{_W}.model.target_modules={_targets(lora.targets)}",
            # The CPU rollout loads no adapters, and one merged sync serves vLLM as well.
            f"{_W}.model.lora.merge=True",
        ]
    template = experiment.policy.chat_template_text
    if template is not None:
        rendered.append(f"{_W}.model.custom_chat_template={_text(template)}")
    return rendered


def _targets(targets: tuple[str, ...]) -> str:
    return "all-linear" if targets == ("all-linear",) else "[" + ",".join(targets) + "]"


def _actor(experiment: Experiment) -> list[str]:
    training = experiment.training
    dtype = "fp32" if experiment.policy.dtype == "float32" else "bf16"
    precision = f"{{param_dtype:{dtype},reduce_dtype:fp32,buffer_dtype:fp32}}"
    rendered = [
        f"{_W}.actor.strategy=fsdp2",
        f"{_W}.ref.strategy=fsdp2",
        f"{_W}.actor.optim.lr={training.learning_rate}",
        f"{_W}.actor.ppo_mini_batch_size={training.mini_batch_prompts}",
        f"{_W}.actor.ppo_micro_batch_size_per_gpu={training.micro_batch}",
        f"{_W}.actor.use_kl_loss={training.kl_coefficient > 0}",
        f"{_W}.actor.kl_loss_coef={training.kl_coefficient}",
        f"{_W}.actor.kl_loss_type=low_var_kl",
        f"{_W}.actor.entropy_coeff={training.entropy_coefficient}",
        f"{_W}.actor.clip_ratio={training.clip_ratio}",
        f"{_W}.actor.data_loader_seed={experiment.seed}",
        f"{_W}.actor.checkpoint.save_contents=[model,optimizer,extra]",
    ]
    for role in ("actor", "ref"):
        rendered += [
            f"{_W}.{role}.use_torch_compile=False",
            f"{_W}.{role}.fsdp_config.use_torch_compile=False",
            f"+{_W}.{role}.fsdp_config.mixed_precision={precision}",
        ]
    return rendered


def _rollout(experiment: Experiment, cpu: bool) -> list[str]:
    training = experiment.training
    examples = experiment.workflow.room if experiment.workflow is not None else 0
    room = training.max_prompt_tokens + (training.scaffold.max_tokens if training.scaffold is not None else examples)
    loop = [
        f"{_W}.rollout.agent.agent_loop_config_path={_text(AGENT_LOOPS)}",
        f"{_W}.rollout.agent.default_agent_loop={WORKFLOW_LOOP if examples else SCAFFOLD_LOOP}",
        f"{_W}.rollout.prompt_length={room}",
    ]
    return [
        *(loop if training.scaffold is not None or examples else []),
        f"{_W}.rollout.name={ROLLOUT_NAME if cpu else 'vllm'}",
        # verl samples in bfloat16 unless told otherwise, whatever it trains in.
        f"{_W}.rollout.dtype={experiment.policy.dtype}",
        f"{_W}.rollout.n={training.rollouts_per_prompt}",
        f"{_W}.rollout.temperature={training.temperature}",
        f"{_W}.rollout.top_p={training.top_p}",
        f"{_W}.rollout.top_k={training.top_k}",
        f"{_W}.rollout.seed={experiment.seed}",
        f"{_W}.rollout.calculate_log_probs=True",
        f"{_W}.rollout.tensor_model_parallel_size={experiment.cluster.tensor_parallel}",
        f"{_W}.rollout.max_model_len={room + training.max_response_tokens}",
        f"{_W}.rollout.log_prob_micro_batch_size_per_gpu={training.micro_batch}",
        f"{_W}.ref.log_prob_micro_batch_size_per_gpu={training.micro_batch}",
        f"{_W}.rollout.agent.num_workers=1",
        f"{_W}.rollout.load_format={'auto' if cpu else 'safetensors'}",
    ]


def _reward() -> list[str]:
    return [
        # One process owns the judge's limits; a second one would double them.
        "reward.num_workers=1",
        "reward.reward_manager.source=importlib",
        "reward.reward_manager.module.path=pkg://components.reward.verl_manager",
        "reward.reward_manager.name=GavelRewardManager",
    ]


def _trainer(experiment: Experiment, paths: TrainingPaths) -> list[str]:
    training, cluster = experiment.training, experiment.cluster
    return [
        f"trainer.n_gpus_per_node={max(1, min(cluster.gpus, cluster.gpus_per_node))}",
        f"trainer.nnodes={max(1, -(-cluster.gpus // max(1, cluster.gpus_per_node)))}",
        f"trainer.total_training_steps={training.steps}",
        # Steps end the run; data is repeated for as long as they last.
        "trainer.total_epochs=1000000",
        f"trainer.save_freq={training.checkpoint_every}",
        # verl removes the oldest before it writes the newest: with one kept, a kill in between would leave none.
        f"trainer.max_actor_ckpt_to_keep={max(2, training.keep_checkpoints)}",
        "trainer.test_freq=-1",
        "trainer.val_before_train=False",
        f"trainer.logger=[{','.join(loggers(training))}]",
        "trainer.project_name=gavel",
        f"trainer.experiment_name={experiment.name}",
        f"trainer.default_local_dir={_text(paths.checkpoints)}",
        "trainer.resume_mode=auto",
        "+trainer.checkpoint_callback_class=components.engine.callback.CheckpointMark",
        "trainer.v1.sampler.custom_sampler.path=pkg://components.engine.sampler",
        "trainer.v1.sampler.custom_sampler.name=QuickReplayBuffer",
        f"+trainer.v1.sync.train_batch_size={training.prompts_per_step}",
    ]


def _local(experiment: Experiment) -> list[str]:
    """A Ray of our own on this machine.

    Its logical CPUs only say what may be scheduled. verl asks for some 16, and for a few more with each GPU; with as
    many as a small machine has, part of its actors would never start, and it would wait for them.
    """
    cpu = experiment.cluster.accelerator == "cpu"
    only_cpu = ["+ray_kwargs.ray_init.num_gpus=1", "+ray_kwargs.ray_init.object_store_memory=200000000"]
    return [
        _ONE_STORAGE,
        f"ray_kwargs.ray_init.num_cpus={logical_cpus(experiment.cluster.gpus)}",
        "+ray_kwargs.ray_init.include_dashboard=False",
        *(only_cpu if cpu else []),
    ]


def _joined(cpu: bool) -> list[str]:
    """A Ray that is there (RAY_ADDRESS): what it has was said when it was started, and may not be said again."""
    return [_ONE_STORAGE] if cpu else []


def logical_cpus(gpus: int) -> int:
    """CPUs that Ray is to count on a machine with so many GPUs that train; 16 without."""
    return 16 + 4 * gpus


def environment_overrides(environment: Mapping[str, str]) -> list[str]:
    """Hand variables to the processes of a Ray that was started without them.

    Args:
        environment: the trainer's, whole; what this process has as well, the pods have.
    """
    return [
        f"+ray_kwargs.ray_init.runtime_env.env_vars.{name}={_text(value)}"
        for name, value in sorted(environment.items())
        if os.environ.get(name) != value
    ]


def render_command(overrides: list[str]) -> str:
    """The overrides as JSON, for the run's record."""
    return json.dumps(
        {"module": "verl.trainer.main_ppo", "platform": PLATFORM_MODULE, "overrides": overrides}, indent=1
    )
