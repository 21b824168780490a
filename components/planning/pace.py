"""Hours by a stated model: a run of ours, scaled.

Measured on one H100 of 80 GB with verl 0.9.1 and vLLM 0.24.0: 568 million weights, 16 prompts with 8 responses of at
most 512 tokens a step; a step with a checkpoint took 29.2 s. Each part is scaled by weights x responses x tokens, and
divided by the GPUs. The trainer pads every sample to the longest prompt and response, so that its tokens are known; the
length of that run's prompts is not, and counts as none, which makes the estimate rather too high. So does that larger
models use a GPU better than small ones: measure, and set training_tflops and rollout_tokens_per_second of the pool.
"""

import dataclasses
from typing import TYPE_CHECKING, Final

from components.planning.assumptions import Assumptions
from components.planning.calls import MODELS
from components.planning.task_sets import answered, models_of
from components.planning.tokens import Amount, JudgeWork

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.kubernetes import PoolSpec


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """One step of a run; times in seconds."""

    weights: float = 568e6
    responses: int = 16 * 8
    tokens: int = 512
    rollout: float = 4.5
    old: float = 3.0
    reference: float = 3.8
    update: float = 9.8
    checkpoint: float = 7.8
    step: float = 29.2

    @property
    def rest(self) -> float:
        """Of a step, what belongs to none of its parts."""
        return self.step - self.rollout - self.old - self.reference - self.update - self.checkpoint


MEASURED: Final = Measured()
START_SECONDS: Final = 240.0
"""To the first step, and 76 s until vLLM is loaded for generation: docs/training.md, one H100."""
LOAD_SECONDS: Final = 76.0
FORWARD: Final = 2
"""Operations a weight and token of a forward pass; an update takes four times as many: forward, the same again for
gradient checkpointing, and twice that backward."""
UPDATE: Final = 8
PEAK: Final = 989.4e12
"""Operations a second of an H100 SXM in bfloat16 without sparsity, by NVIDIA's data sheet."""
IFEVAL_PROMPTS: Final = 541
"""Of IFEval's official file, for a file that is not read here."""


@dataclasses.dataclass(frozen=True, slots=True)
class Hours:
    """Seconds of the parts of a run on GPUs; None where not known.

    Attributes:
        step: seconds of each part of a training step, checkpoints and judging aside.
        best: seconds of the trainer's part of a step on H100s at their peak, which nothing undercuts.
        training: all steps with their checkpoints and the start, without judging.
        generation: answers to held-out prompts and IFEval, or to the test sets of a mixture.
        judging: in training; None where the judge's speed is not known.
        scoring: judging the held-out responses; None likewise.
    """

    step: dict[str, float]
    best: float
    training: float
    generation: float
    judging: float | None
    scoring: float | None

    @property
    def known(self) -> float:
        """Seconds of everything that is known."""
        return self.training + self.generation + (self.judging or 0.0) + (self.scoring or 0.0)

    @property
    def complete(self) -> bool:
        """Whether nothing is left out."""
        return self.judging is not None and self.scoring is not None


def hours_of(experiment: "Experiment", work: list[JudgeWork], pool: "PoolSpec | None") -> Hours | None:
    """The estimate; None for a run without GPUs, of which nothing comparable was measured.

    Args:
        experiment: what is run.
        work: what each judge is asked; they answer side by side.
        pool: with speeds that the user measured.
    """
    training, cluster = experiment.training, experiment.cluster
    if cluster.accelerator != "gpu":
        return None
    step = _step(experiment, pool)
    saves = -(-training.steps // training.checkpoint_every)
    checkpoint = MEASURED.checkpoint * experiment.policy.parameters / MEASURED.weights
    return Hours(
        step,
        _best(experiment),
        START_SECONDS + training.steps * sum(step.values()) + saves * checkpoint,
        _generation(experiment, pool),
        _slowest(work, [each.training for each in work]),
        _slowest(work, [each.scoring for each in work]),
    )


def _step(experiment: "Experiment", pool: "PoolSpec | None") -> dict[str, float]:
    policy, training, gpus = experiment.policy, experiment.training, experiment.cluster.gpus
    responses = training.prompts_per_step * training.rollouts_per_prompt
    padded = responses * (training.max_prompt_tokens + training.max_response_tokens)

    def trainer(measured: float, operations: int) -> float:
        if pool is not None and pool.training_tflops is not None:
            return operations * policy.parameters * padded / (pool.training_tflops * 1e12 * gpus)
        return measured * _scale(policy.parameters, padded) / gpus

    return {
        "rollout": _writing(experiment, responses * training.max_response_tokens, gpus, pool),
        "old log-probabilities": 0.0 if _keeps_old(experiment) else trainer(MEASURED.old, FORWARD),
        "reference": trainer(MEASURED.reference, FORWARD) if training.kl_coefficient > 0 else 0.0,
        "update": trainer(MEASURED.update, UPDATE),
        "rest": MEASURED.rest,
    }


def _best(experiment: "Experiment") -> float:
    training = experiment.training
    passes = FORWARD * (training.kl_coefficient > 0) + FORWARD * (not _keeps_old(experiment)) + UPDATE
    padded = training.prompts_per_step * training.rollouts_per_prompt
    padded *= training.max_prompt_tokens + training.max_response_tokens
    return passes * experiment.policy.parameters * padded / (PEAK * experiment.cluster.gpus)


def _keeps_old(experiment: "Experiment") -> bool:
    """Whether the old log-probabilities are those of the sampling, and no pass computes them."""
    scaffold = experiment.training.scaffold
    return scaffold is not None and scaffold.corrected


def _writing(experiment: "Experiment", tokens: float, gpus: int, pool: "PoolSpec | None") -> float:
    """Seconds to write responses of that length at the most. A measured speed takes them at full length; ours has the
    lengths of its run in it."""
    if pool is not None and pool.rollout_tokens_per_second is not None:
        return tokens / (pool.rollout_tokens_per_second * gpus)
    return MEASURED.rollout * _scale(experiment.policy.parameters, tokens) / gpus


def _scale(weights: float, tokens: float) -> float:
    return weights / MEASURED.weights * tokens / (MEASURED.responses * MEASURED.tokens)


def _generation(experiment: "Experiment", pool: "PoolSpec | None") -> float:
    evaluation, gpus = experiment.evaluation, experiment.cluster.tensor_parallel
    if experiment.data.mixture is not None:
        models = models_of(experiment)
        return models * LOAD_SECONDS + _writing(experiment, models * answered(experiment).tokens, gpus, pool)
    responses = experiment.data.heldout_rows * evaluation.samples * MODELS
    tokens = responses * evaluation.max_response_tokens
    loads = MODELS
    if evaluation.ifeval is not None:
        models = 2 if evaluation.ifeval.base else 1
        prompts = evaluation.ifeval.limit or IFEVAL_PROMPTS
        tokens += models * prompts * evaluation.ifeval.samples * evaluation.ifeval.max_response_tokens
        loads += models
    return loads * LOAD_SECONDS + _writing(experiment, tokens, gpus, pool)


def _slowest(work: list[JudgeWork], amounts: list[Amount]) -> float | None:
    times = [judging_seconds(each, amount) for each, amount in zip(work, amounts, strict=True)]
    known = [time for time in times if time is not None]
    return None if len(known) < len(times) else max(known, default=0.0)


def judging_seconds(work: JudgeWork, amount: Amount) -> float | None:
    """How long a judge takes at its measured speed or the rates that it allows, whichever is slower; None where neither
    is known."""
    judge = work.judge
    if amount.calls == 0:
        return 0.0
    times = []
    speed = judge.deployment.tokens_per_second if judge.serving == "kserve" else None
    if speed is not None and amount.tokens is not None:
        times.append(amount.tokens / (speed * max(1, judge.deployment.min_replicas)))
    keys = (1 + len(judge.more_key_envs)) * judge.limits.share
    if judge.limits.requests_per_minute is not None and amount.calls is not None:
        times.append(60 * amount.calls / (judge.limits.requests_per_minute * keys))
    if judge.limits.tokens_per_minute is not None and amount.tokens is not None:
        times.append(60 * amount.tokens / (judge.limits.tokens_per_minute * keys))
    return max(times, default=None)


def assumed_text(assumed: Assumptions) -> list[str]:
    """The model in words, for whoever reads the figures."""
    criteria = "not known" if assumed.criteria is None else f"{assumed.criteria:g}"
    return [
        f"prompts, responses and judges' replies at {assumed.fill:g} of their longest (FILL=); "
        f"{assumed.again:.0%} of chat replies asked for again (AGAIN=); a workflow uses that share of the calls and "
        "tokens of its budget (workflow.budget)",
        f"criteria a row where rows bring their own: {criteria} (CRITERIA=); {assumed.letters:g} characters a token",
        f"time: one measured step on one H100 ({MEASURED.weights / 1e6:.0f}M weights, {MEASURED.responses} responses "
        f"of at most {MEASURED.tokens} tokens: rollout {MEASURED.rollout:g} s, old log-probabilities "
        f"{MEASURED.old:g} s, reference {MEASURED.reference:g} s, update {MEASURED.update:g} s, checkpoint "
        f"{MEASURED.checkpoint:g} s), scaled by weights x tokens / GPUs; rather too high for large models",
        "time leaves out: waiting for nodes and queue, pulling images and weights, merging, report",
    ]
