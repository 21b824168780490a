"""What a mixture and its evaluation ask of the other parts of an experiment."""

from collections.abc import Iterable

from components.core.spec.base import Conflict
from components.core.spec.data import DataSpec
from components.core.spec.evaluation import EvaluationSpec
from components.core.spec.mixture import MixtureSpec
from components.core.spec.policy import PolicySpec
from components.core.spec.reward import RewardSpec
from components.core.spec.tasks import TasksSpec
from components.core.spec.training import TrainingSpec


def mixture_conflicts(reward: RewardSpec, data: DataSpec) -> Iterable[Conflict]:
    """Who decides tasks, and whether the reward asks them."""
    mixture = data.mixture
    if mixture is None:
        return
    weights = mixture.weights.model_dump()
    for domain, who in mixture.decided_by.all.items():
        key = f"data.mixture.decided_by.{domain}"
        if weights[domain] == 0:
            continue
        if who != "gold" and not reward.asks_in_training:
            yield Conflict(
                key,
                f"{who}, but reward.combine {reward.combine} asks no judge in training",
                f"set decided_by.{domain}: gold, or reward.combine: rubric",
            )
        if who != "gold" and reward.protocol == "pairwise":
            yield Conflict(
                key,
                f"{who}, but reward.protocol pairwise compares with rival responses, and a task has a reference",
                "set reward.protocol: semantic_equality, or one of the rubric protocols",
            )
        if who != "gold" and domain == "code" and reward.protocol == "semantic_equality":
            yield Conflict(
                key,
                f"{who}, but code has no reference answer that reward.protocol semantic_equality could compare with",
                f"set decided_by.{domain}: gold, or reward.protocol: rubric",
            )
    if reward.asks_in_training and reward.combine != "workflow" and not mixture.asks_a_judge:
        yield Conflict(
            "reward.combine",
            f"{reward.combine} asks a judge, but data.mixture.decided_by leaves it nothing to decide",
            "set reward.combine: rule_only, or decided_by of a domain to judge or both",
        )


def mixture_scaffold(data: DataSpec, training: TrainingSpec) -> Iterable[Conflict]:
    """A scaffold shows criteria to the policy, and those of tasks name the right answer or say nothing of it."""
    if data.mixture is not None and training.scaffold is not None:
        yield Conflict(
            "training.scaffold",
            "it shows the policy its rubric, and a task's rubric has the reference answer",
            "set training.scaffold: null",
        )


def tasks_conflicts(policy: PolicySpec, data: DataSpec, evaluation: EvaluationSpec) -> Iterable[Conflict]:
    """Which sets can be answered, and in how many tokens."""
    tasks = evaluation.tasks
    if tasks is None:
        return
    if data.mixture is None:
        yield Conflict(
            "evaluation.tasks",
            f"data of kind {data.kind} have no task sets to answer",
            "remove evaluation.tasks, or choose data of kind mixture",
        )
        return
    yield from _tested(tasks, data.mixture)
    for domain, tokens in tasks.max_response_tokens.model_dump().items():
        if tokens >= policy.context_tokens:
            yield Conflict(
                f"evaluation.tasks.max_response_tokens.{domain}",
                f"{tokens} leaves no room for a prompt in policy.context_tokens {policy.context_tokens}",
                "lower it, or choose a policy with a longer context",
            )


def _tested(tasks: TasksSpec, mixture: MixtureSpec) -> Iterable[Conflict]:
    """Sets that are to be answered and have nothing to answer."""
    given = mixture.sources.given
    tested = [name for name in given if mixture.sources.tests(name, mixture.split)]
    if not tested:
        yield Conflict(
            "evaluation.tasks",
            "no source of data.mixture has a test file",
            "add test files to data.mixture.sources, or remove evaluation.tasks",
        )
        return
    for name in tasks.sets:
        source = name.partition("_")[0]
        if name == "mixed" or source in tested:
            continue
        if source not in given:
            what, add = "is no source of data.mixture", "add its files to data.mixture.sources"
        else:
            what, add = f"has no test file in data.mixture.sources.{source}", f"give sources.{source}.test"
        yield Conflict("evaluation.tasks.sets", f"{name} {what}", f"take from {', '.join(tested)}, or {add}")


def mixture_reach(data: DataSpec) -> Iterable[Conflict]:
    """Files that the pods of a cluster do not see."""
    for key, file in data.mixture.files() if data.mixture is not None else ():
        if file.path is not None and not file.path.startswith("s3://"):
            yield Conflict(
                f"data.mixture.{key}.path",
                f"{file.path!r} lies on this machine, but cluster.placement is kubernetes",
                "upload the file and give its s3:// URL, with sha256",
            )


def mixture_rows(data: DataSpec, training: TrainingSpec) -> Iterable[Conflict]:
    """A materialised mixture that is smaller than a batch; how many rows others have, their files tell."""
    total = data.mixture.total_rows if data.mixture is not None else None
    if total is not None and total < training.prompts_per_step:
        yield Conflict(
            "data.mixture.total_rows",
            f"{total} rows do not fill one step of training.prompts_per_step {training.prompts_per_step}",
            f"use at least {training.prompts_per_step} rows, or fewer prompts a step",
        )
