"""The train-grpo step: GRPO against the judge, resumed from its checkpoints, with everything that was sampled kept."""

import dataclasses
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from components.core.contracts import METRICS, PROMPTS, ROLLOUTS, VERDICTS, WORKFLOWS, read_table, write_table
from components.core.errors import StepError
from components.core.spec.experiment import Experiment
from components.core.step import Step, StepContext
from components.engine.checkpoints import prepare_resume, step_folder, whole_steps
from components.engine.cpu import PLATFORM_MODULE, ROLLOUT_MODULE
from components.engine.environment import training_environment
from components.engine.overrides import TrainingPaths, environment_overrides, render_command, verl_overrides
from components.engine.process import HungError, SlowStartError, StalledError, TrainerProcess, read_metrics
from components.engine.trackers import check_trackers
from components.judge.memory import Ledger
from components.judge.memory.shipping import shipped
from components.models.materialize import cache_folder, materialize
from components.reward.canaries.unused import unused_canaries
from components.reward.rollout_log import RolloutLog
from components.reward.verl_manager_settings import ManagerSettings
from components.train.canaries import publish_canaries
from components.train.prompts import check_draw, check_rewarded_rows, check_scaffolded_prompts
from components.workflow.buffer.buffer import ExperienceBuffer
from components.workflow.buffer.store import FOLDER as BUFFER_FOLDER
from components.workflow.buffer.store import write_folder
from components.workflow.experience import open_buffer
from components.workflow.log import WorkflowLog
from components.workflow.log_name import NAME as WORKFLOWS_NAME
from components.workflow.log_name import TABLE as WORKFLOWS_TABLE
from components.workflow.operators import MODULES
from components.workflow.prompts.layer2 import enhancements_identity
from components.workflow.unused import unused

LEDGER = "ledger.sqlite"
"""In the work folder; the reward manager writes it."""

EARLIER = "checkpoints"
"""Folder of the result with the checkpoints before the last, ``global_step_N/`` each, where they are asked for."""

_STARTS = 3
"""Starts of the trainer within one run of the step before a hang counts as a failure."""
_SLOW_STARTS = 10
"""Those before Ray's patience with a busy machine does, which costs a minute or two each and loses no work."""


def run(ctx: StepContext) -> dict[str, Any]:
    """Train until the last step, however often it has to start; see DESIGN for the published files."""
    from components.models.loading import check_model

    experiment = ctx.experiment
    data = ctx.inputs["data"] / "train.parquet"
    rows = read_table(data, PROMPTS).num_rows
    check_rewarded_rows(experiment, data)
    check_draw(experiment, data)
    check_trackers(experiment.training)
    ctx.progress.phase(f"{rows} prompts; preparing the policy")
    paths = TrainingPaths(
        model=materialize(experiment.policy.source, cache_folder(ctx.state)),
        data=data,
        checkpoints=ctx.work / "checkpoints",
    )
    # The trainer fills weights that are missing with random numbers.
    check_model(paths.model)
    check_scaffolded_prompts(experiment, paths.model, data)
    with shipped(ctx.work / LEDGER, ctx):
        _train_to_the_end(ctx, paths)
        return _publish(ctx, paths)


def _train_to_the_end(ctx: StepContext, paths: TrainingPaths) -> None:
    deadline = time.time() + ctx.experiment.training.deadline_minutes * 60
    # Inside a job a hang ends the job: the next attempt gets a Ray of its own.
    job = ctx.experiment.cluster.placement == "kubernetes"
    hung: Counter[str] = Counter()
    while True:
        try:
            _train(ctx, paths, deadline)
            return
        except StalledError as error:
            slow = isinstance(error, SlowStartError)
            what = "the trainer did not start" if slow else "the trainer hung"
            hung[what] += 1
            starts = 1 if job else _SLOW_STARTS if slow else _STARTS
            ctx.progress.phase(f"{what}: {error}; {hung[what]} of {starts} times at most")
            if hung[what] == starts:
                often = f"{starts} times: {error}" if starts > 1 else f"({error})"
                remedy = "run again when less runs beside it: training goes on" if slow else "see the log"
                raise HungError(f"{what} {often}", where=str(ctx.work / "trainer.log"), remedy=remedy) from error


def _train(ctx: StepContext, paths: TrainingPaths, deadline: float) -> None:
    experiment, training = ctx.experiment, ctx.experiment.training
    resumed_from = prepare_resume(paths.checkpoints)
    if resumed_from >= training.steps:
        return
    _remove_left_overs(ctx.work)
    log = RolloutLog(ctx.work / "rollouts.sqlite")
    attempt = log.start_attempt(resumed_from)
    log.close()
    settings, metrics = ctx.work / "reward.json", metrics_file(ctx.work, attempt)
    data = paths.data.parent
    with _buffer(ctx, data) as buffer:
        if buffer is not None:
            buffer.forget_after(resumed_from)
    ManagerSettings(experiment.to_json(), str(ctx.state), str(ctx.work), attempt, str(data)).write(settings)
    environment = training_environment(experiment, settings=settings, metrics=metrics, work=ctx.work)
    overrides = verl_overrides(experiment, paths)
    if experiment.cluster.placement == "kubernetes":
        overrides += environment_overrides(environment)
    (ctx.work / "command.json").write_text(render_command(overrides))
    origin = f"resuming from step {resumed_from}" if resumed_from else "starting"
    ctx.progress.phase(f"{origin}; verl and Ray take about a minute to start (log: {ctx.work / 'trainer.log'})")
    progress = ctx.progress.begin(training.steps, "step", done=resumed_from)
    trainer = TrainerProcess(
        overrides,
        environment,
        work=ctx.work,
        metrics=metrics,
    )
    trainer.watch(
        progress,
        samples_per_step=training.prompts_per_step * training.rollouts_per_prompt,
        resumed_from=resumed_from,
        stall=training.stall_minutes * 60,
        deadline=deadline,
    )
    reached = prepare_resume(paths.checkpoints)
    if reached < training.steps:
        raise StepError(
            f"the trainer ended without an error at step {reached} of {training.steps}",
            where=str(ctx.work / "trainer.log"),
        )


def _remove_left_overs(work: Path) -> None:
    layouts = list(work.glob("rollout-weights-*.json"))
    if layouts:
        from components.engine.cpu.shared_weights import remove_left_over

        for layout in layouts:
            remove_left_over(layout)


def metrics_file(work: Path, attempt: int) -> Path:
    """verl's metrics of one start of the trainer."""
    return work / f"metrics-{attempt}.jsonl"


def _publish(ctx: StepContext, paths: TrainingPaths) -> dict[str, Any]:
    """Fill the output folder from the durable one."""
    training = ctx.experiment.training
    ctx.progress.phase("collecting rollouts, verdicts and the last checkpoint")
    _copy_checkpoint(step_folder(paths.checkpoints, training.steps), ctx.out / "checkpoint")
    lost = _copy_earlier(ctx, paths)
    log = RolloutLog(ctx.work / "rollouts.sqlite")
    rollouts, attempts = log.rows(), log.attempts()
    log.close()
    if not rollouts:
        raise StepError("training left no rollouts", where=str(ctx.work / "rollouts.sqlite"))
    write_table(ctx.out / "rollouts.parquet", rollouts, ROLLOUTS)
    with Ledger(ctx.work / LEDGER) as ledger:
        verdicts = ledger.rows()
        calls = ledger.export_calls(ctx.out / "calls.parquet")
    canaries: dict[str, Any] = {}
    if training.canaries is not None:
        verdicts, canaries = publish_canaries(ctx.work / "rollouts.sqlite", attempts, verdicts, ctx.out)
    write_table(ctx.out / "verdicts.parquet", [dataclasses.asdict(entry) for entry in verdicts], VERDICTS)
    if ctx.experiment.workflow is not None:
        _publish_workflows(ctx, paths.data.parent, [row["sample_id"] for row in rollouts])
    metrics = list(_metrics(ctx.work, attempts))
    write_table(ctx.out / "metrics.parquet", metrics, METRICS)
    if (ctx.work / "tensorboard").is_dir():
        shutil.copytree(ctx.work / "tensorboard", ctx.out / "tensorboard", dirs_exist_ok=True)
    shutil.copy2(ctx.work / "command.json", ctx.out / "command.json")
    scored = [row["reward"] for row in rollouts if row["reward"] is not None]
    return {
        "steps": training.steps,
        "rollouts": len(rollouts),
        "abstained": len(rollouts) - len(scored),
        "verdicts": len(verdicts),
        "calls": calls,
        "starts": len(attempts),
        **canaries,
        **({"checkpoints_lost": lost} if training.publish_every is not None else {}),
    }


@contextmanager
def _buffer(ctx: StepContext, data: Path) -> Iterator[ExperienceBuffer | None]:
    """The experience buffer of a training whose prompts show examples."""
    buffer = open_buffer(ctx.experiment, ctx.work, ctx.state, data)
    try:
        yield buffer
    finally:
        if buffer is not None:
            buffer.close()


def _publish_workflows(ctx: StepContext, data: Path, sample_ids: list[str]) -> None:
    """What became of the workflows that the final weights come from, and the buffer as it is now."""
    log = WorkflowLog(ctx.work / WORKFLOWS_NAME)
    write_table(ctx.out / WORKFLOWS_TABLE, log.rows(sample_ids), WORKFLOWS)
    log.close()
    with _buffer(ctx, data) as buffer:
        if buffer is not None:
            write_folder(buffer, ctx.out / BUFFER_FOLDER)


def _copy_earlier(ctx: StepContext, paths: TrainingPaths) -> int:
    """Publish the checkpoints before the last that are asked for; how many of them are gone, as a training that went on
    in another pod loses those before its newest."""
    wanted, there = ctx.experiment.training.published_steps(), set(whole_steps(paths.checkpoints))
    lost = [step for step in wanted if step not in there]
    for step in there.intersection(wanted):
        _copy_checkpoint(step_folder(paths.checkpoints, step), step_folder(ctx.out / EARLIER, step))
    if lost:
        ctx.progress.phase(f"checkpoints of steps {', '.join(map(str, lost))} are gone, and are not published")
    return len(lost)


def _copy_checkpoint(source: Path, target: Path) -> None:
    """The last checkpoint without its optimizer, which only a resume needs; by hard link where the disk allows."""
    actor = source / "actor"
    for path in sorted(actor.rglob("*")):
        if path.is_dir() or path.name.startswith("optim_"):
            continue
        copy = target / path.relative_to(actor)
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, copy)
        except OSError:
            shutil.copy2(path, copy)


def _metrics(work: Path, attempts: dict[int, int]) -> Any:
    """Metric rows of the steps that the final weights come from."""
    last: dict[int, dict[str, Any]] = {}
    for attempt in sorted(attempts):
        for row in read_metrics(metrics_file(work, attempt)):
            last[int(str(row["step"]))] = dict(row["data"])  # type: ignore[call-overload]
    for step, data in sorted(last.items()):
        for name, value in sorted(data.items()):
            if isinstance(value, int | float) and value == value and abs(value) != float("inf"):
                yield {"step": step, "name": name, "value": float(value)}


def _depends(experiment: Experiment) -> dict[str, Any]:
    return {
        "policy": experiment.policy_identity(),
        **experiment.rewarding_identity(),
        **enhancements_identity(experiment),
        "training": experiment.training_identity(),
        "seed": experiment.seed,
    }


STEP = Step(
    name="train-grpo",
    module="components.train.step",
    depends=_depends,
    run=run,
    packages=("verl", "torch", "transformers", "ray", "tensordict", "TransferQueue", "peft", "math-verify", "sympy"),
    extra_modules=(
        PLATFORM_MODULE,
        ROLLOUT_MODULE,
        "components.engine.launch",
        "components.engine.actor_engine",
        "components.engine.callback",
        "components.engine.sampler",
        "components.reward.verl_manager",
        # The embedded judge runs in a process of its own; another arithmetic there gives other rewards.
        "components.judge.server.__main__",
        "components.bias.scripted.cli",
        "components.reward.verl_advantage",
        "components.engine.workflow_loop",
        *MODULES,
    ),
    unused=lambda experiment: (*unused(experiment), *unused_canaries(experiment)),
)
