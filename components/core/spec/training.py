"""Training: GRPO's settings."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import Conflict, Count, Spec, Text, Tokens
from components.core.spec.canaries import CanarySpec
from components.core.spec.scaffold import ScaffoldSpec


class LoraSpec(Spec):
    """Low-rank adapters instead of full fine-tuning."""

    rank: Annotated[int, Field(ge=1, le=1024)] = 16
    """Rank of the adapters. Unit: none. Default: 16."""
    alpha: Annotated[int, Field(ge=1)] = 32
    """Scale; the update is multiplied by alpha / rank. Unit: none. Default: 32."""
    targets: Annotated[tuple[Text, ...], Field(min_length=1)] = ("all-linear",)
    """Names of the adapted layers; all-linear alone means every linear layer but the output head. Unit: none.
    Default: ["all-linear"]."""


class TrainingSpec(Spec):
    """One GRPO run: batch, sampling, optimiser, checkpoints, deadlines."""

    steps: Annotated[int, Field(ge=1, le=1_000_000)]
    """Training steps; each samples, judges and learns from one batch. Unit: steps. Required."""
    prompts_per_step: Count
    """Prompts sampled in a step. Unit: prompts. Required."""
    rollouts_per_prompt: Count
    """Responses sampled for each prompt: the group whose mean is the baseline. Unit: responses. Required."""
    max_prompt_tokens: Tokens
    """Longest prompt, chat template included. Unit: tokens. Required."""
    max_response_tokens: Tokens
    """Longest response; a longer one is cut. Unit: tokens. Required."""
    temperature: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Sampling temperature of rollouts. Unit: none. Default: 1.0."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Smallest probability mass that sampling keeps; 1 keeps everything. Unit: fraction. Default: 1.0."""
    top_k: Annotated[int, Field(ge=-1)] = -1
    """Number of likeliest tokens that sampling keeps; -1 keeps all. Unit: tokens. Default: -1."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 1e-6
    """Constant learning rate of AdamW. Unit: none. Default: 1e-06."""
    kl_coefficient: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Weight of the divergence from the starting policy in the loss; above 0 a reference model is kept as well.
    Unit: none. Default: 0.0."""
    entropy_coefficient: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Weight of the entropy bonus in the loss. Unit: none. Default: 0.0."""
    clip_ratio: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Half width of the trust region around a probability ratio of 1 (PPO's epsilon). Unit: none. Default: 0.2."""
    mini_batch_prompts: Count
    """Prompts in one optimiser update; divides prompts_per_step. Unit: prompts. Required."""
    micro_batch: Count
    """Responses in one forward and backward pass of a worker; only memory depends on it. Unit: responses. Required."""
    lora: LoraSpec | None = None
    """Low-rank adapters; null trains all weights. Unit: none. Default: null."""
    scaffold: ScaffoldSpec | None = None
    """Shows training prompts a part of their rubric; null shows none. Unit: none. Default: null."""
    canaries: CanarySpec | None = None
    """Responses without content that the judge is shown in each step and that should earn nothing; null shows none.
    Only where a judge scores responses. Unit: none. Default: null."""
    trackers: tuple[Literal["wandb", "mlflow"], ...] = ()
    """Where metrics go beside the run's own files and tensorboard. Keys and addresses come from the environment
    (WANDB_API_KEY, MLFLOW_TRACKING_URI), never from here. Unit: none. Default: []."""
    checkpoint_every: Count = 10
    """A killed run goes on from the last checkpoint; the last step always has one. Unit: steps. Default: 10."""
    keep_checkpoints: Count = 1
    """Checkpoints kept on disk, newest first. Unit: checkpoints. Default: 1."""
    publish_every: Count | None = None
    """Checkpoints of every so many steps become part of the training's result, to see how the policy drifts; null
    publishes the last one alone. A multiple of checkpoint_every, with keep_checkpoints large enough for all of them.
    Unit: steps. Default: null."""
    deadline_minutes: Annotated[float, Field(gt=0)] = 1440.0
    """Longest time for the training step; then it fails, and can be resumed. Unit: minutes. Default: 1440.0."""
    stall_minutes: Annotated[float, Field(gt=0)] = 30.0
    """Longest time without a heartbeat before the trainer counts as hung and is ended. Unit: minutes. Default: 30.0."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.rollouts_per_prompt < 2:
            yield Conflict(
                "rollouts_per_prompt",
                f"{self.rollouts_per_prompt} response a prompt has no group to compare with: GRPO's advantage is 0",
                "set it to 2 or more; 4 to 8 are usual",
            )
        if self.prompts_per_step % self.mini_batch_prompts:
            yield Conflict(
                "mini_batch_prompts",
                f"{self.mini_batch_prompts} does not divide prompts_per_step {self.prompts_per_step}",
                f"use one of {_divisors(self.prompts_per_step)}",
            )
        if self.scaffold is not None and self.scaffold.full > self.rollouts_per_prompt:
            yield Conflict(
                "scaffold.full",
                f"{self.scaffold.full} samples of a group of rollouts_per_prompt {self.rollouts_per_prompt}",
                f"use at most {self.rollouts_per_prompt}",
            )
        yield from self._published()
        if len(set(self.trackers)) < len(self.trackers):
            yield Conflict("trackers", f"{', '.join(self.trackers)} names one twice", "name each once")
        if self.top_k == 0:
            yield Conflict("top_k", "0 keeps no token", "use -1 to keep all, or 1 and more")
        if self.stall_minutes > self.deadline_minutes:
            yield Conflict(
                "stall_minutes",
                f"{self.stall_minutes} is above deadline_minutes {self.deadline_minutes}, so it never acts",
                f"use at most {self.deadline_minutes}",
            )

    def published_steps(self) -> tuple[int, ...]:
        """Steps before the last whose checkpoints are part of the result, ascending."""
        return () if self.publish_every is None else tuple(range(self.publish_every, self.steps, self.publish_every))

    def _published(self) -> Iterable[Conflict]:
        if self.publish_every is None:
            return
        if self.publish_every % self.checkpoint_every:
            yield Conflict(
                "publish_every",
                f"{self.publish_every} is no multiple of checkpoint_every {self.checkpoint_every}",
                f"set checkpoint_every to one of {_divisors(self.publish_every)}",
            )
        saved = -(-self.steps // self.checkpoint_every)
        if self.keep_checkpoints < saved:
            yield Conflict(
                "keep_checkpoints",
                f"{self.keep_checkpoints} of {saved} checkpoints stay, and publish_every needs the older ones too",
                f"set keep_checkpoints: {saved}",
            )


def _divisors(number: int) -> str:
    found = [str(candidate) for candidate in range(1, min(number, 4096) + 1) if number % candidate == 0]
    return ", ".join(found if len(found) <= 12 else [*found[:11], "..."])
