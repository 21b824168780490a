"""Combinations across the parts of an experiment that cannot work, found before anything starts."""

import urllib.parse
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from components.core.spec.base import Conflict, Spec
from components.core.spec.cluster import ClusterSpec
from components.core.spec.data import DataSpec
from components.core.spec.deployment import CPU_RUNTIME
from components.core.spec.evaluation import EvaluationSpec
from components.core.spec.judge import JudgeSpec
from components.core.spec.kubernetes import unknown_pool
from components.core.spec.mixture_checks import (
    mixture_conflicts,
    mixture_reach,
    mixture_rows,
    mixture_scaffold,
    tasks_conflicts,
)
from components.core.spec.panel import PanelSpec, panel_conflicts
from components.core.spec.policy import PolicySpec
from components.core.spec.reward import GIVES_PROBABILITIES, RewardSpec
from components.core.spec.training import TrainingSpec
from components.core.spec.workflow import WorkflowSpec, example_places, workflow_conflicts

_GIB = 1024**3
_BYTES = {"float32": 4, "bfloat16": 2}


def _context(policy: PolicySpec, training: TrainingSpec, workflow: WorkflowSpec | None) -> Iterable[Conflict]:
    scaffold = training.scaffold.max_tokens if training.scaffold is not None else 0
    examples = workflow.room if workflow is not None else 0
    needed = training.max_prompt_tokens + scaffold + examples + training.max_response_tokens
    if needed > policy.context_tokens:
        shown = f"training.scaffold.max_tokens {scaffold} + " if scaffold else ""
        shown += f"workflow.example_tokens {examples} + " if examples else ""
        yield Conflict(
            "policy.context_tokens",
            f"{policy.context_tokens} is smaller than training.max_prompt_tokens {training.max_prompt_tokens} + "
            f"{shown}training.max_response_tokens {training.max_response_tokens} = {needed}",
            "shorten prompt or response, or choose a policy with a longer context",
        )


def _evaluation_context(policy: PolicySpec, training: TrainingSpec, evaluation: EvaluationSpec) -> Iterable[Conflict]:
    needed = training.max_prompt_tokens + evaluation.max_response_tokens
    if needed > policy.context_tokens:
        yield Conflict(
            "evaluation.max_response_tokens",
            f"policy.context_tokens {policy.context_tokens} is smaller than training.max_prompt_tokens "
            f"{training.max_prompt_tokens} + {evaluation.max_response_tokens} = {needed}",
            f"use at most {max(0, policy.context_tokens - training.max_prompt_tokens)}",
        )


def _ifeval(policy: PolicySpec, evaluation: EvaluationSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    ifeval = evaluation.ifeval
    if ifeval is None:
        return
    if ifeval.max_response_tokens >= policy.context_tokens:
        yield Conflict(
            "evaluation.ifeval.max_response_tokens",
            f"{ifeval.max_response_tokens} leaves no room for a prompt in policy.context_tokens "
            f"{policy.context_tokens}",
            "lower it, or choose a policy with a longer context; the prompts take up to some 500 tokens",
        )
    if cluster.placement == "kubernetes" and not ifeval.path.startswith("s3://"):
        yield Conflict(
            "evaluation.ifeval.path",
            f"{ifeval.path!r} lies on this machine, but cluster.placement is kubernetes",
            "upload the file and give its s3:// URL, with sha256",
        )


def _judge_context(
    judge: JudgeSpec, reward: RewardSpec, training: TrainingSpec, evaluation: EvaluationSpec
) -> Iterable[Conflict]:
    longest = max(training.max_response_tokens, evaluation.max_response_tokens)
    if judge.context_tokens <= longest:
        yield Conflict(
            "judge.context_tokens",
            f"{judge.context_tokens} leaves no room for the question beside a response of {longest} tokens",
            "shorten the response, or choose a judge with a longer context",
        )
        return
    reply = {"likelihood_ratio": 0, "rubric_token": 1}.get(reward.protocol, judge.max_answer_tokens)
    if judge.context_tokens <= longest + reply:
        yield Conflict(
            "judge.max_answer_tokens",
            f"{reply} beside a response of {longest} tokens leaves no room for the question in "
            f"judge.context_tokens {judge.context_tokens}",
            f"use at most {max(1, judge.context_tokens - longest - 1)}, minus what question and criteria take",
        )


def _logprobs(judge: JudgeSpec, reward: RewardSpec) -> Iterable[Conflict]:
    if reward.protocol == "likelihood_ratio" and not judge.logprobs:
        yield Conflict(
            "judge.logprobs",
            f"false, but reward.protocol {reward.protocol} compares log-probabilities of the prompt's tokens",
            "choose a judge whose server returns them (vLLM does, the embedded server does), and set logprobs: true",
        )
    if reward.protocol == "rubric_token":
        if not judge.answer_logprobs:
            yield Conflict(
                "judge.answer_logprobs",
                "false, but reward.protocol rubric_token reads log-probabilities of the reply's token",
                "choose a judge whose server returns them in a chat (vLLM, OpenAI and the embedded server do), and set "
                "answer_logprobs: true",
            )
        if judge.thinking:
            yield Conflict(
                "judge.thinking",
                "true, but reward.protocol rubric_token reads the first token of the reply, which would be a thought",
                "set thinking: false, or reward.protocol: rubric_per_criterion",
            )


def _rules_name(judge: JudgeSpec, panel: PanelSpec | None) -> Iterable[Conflict]:
    """Verdicts by rules stand beside the judge's in one ledger, under a name of their own."""
    for key, name in (("judge.name", judge.name), ("panel.name", panel.name if panel is not None else "")):
        if name == "rule":
            yield Conflict(key, "'rule' is the name under which the verdicts of rules stand", "choose another name")


def _value(reward: RewardSpec, panel: PanelSpec | None) -> Iterable[Conflict]:
    """The mean of a panel is a probability even where its members say yes or no."""
    if reward.value == "probability" and reward.protocol not in GIVES_PROBABILITIES and panel is None:
        yield Conflict(
            "reward.value",
            f"probability, but reward.protocol {reward.protocol} gives verdicts without probabilities",
            f"set reward.value: binary, or choose one of {', '.join(sorted(GIVES_PROBABILITIES))}",
        )


def _judged(reward: RewardSpec, data: DataSpec) -> Iterable[Conflict]:
    if not reward.asks_in_training or not data.criteria:
        return
    # One that lacks its rule is a mistake of its own, told where it stands.
    if all(criterion.verifier == "rule" and criterion.rule is not None for criterion in data.criteria):
        yield Conflict("data.criteria", "no criterion is left to the judge", "set verifier: llm on at least one")


def _canaries(reward: RewardSpec, training: TrainingSpec) -> Iterable[Conflict]:
    """They ask what a judge makes of a response, so that they need one that scores responses."""
    if training.canaries is None or (reward.asks_in_training and reward.combine != "workflow"):
        return
    why = "what workflows answer is scored" if reward.combine == "workflow" else "no judge is asked in training"
    yield Conflict(
        "training.canaries",
        f"responses without content are shown to a judge, and with reward.combine {reward.combine} {why}",
        "set training.canaries: null",
    )


def _penalties(reward: RewardSpec, data: DataSpec) -> Iterable[Conflict]:
    """What asks whether all constraints are kept has no place for a penalty."""
    if reward.combine == "verif":
        what, remedy = "reward.combine verif multiplies shares of constraints kept", "reward.combine: rubric"
    elif reward.protocol == "verif":
        what, remedy = "reward.protocol verif asks whether all constraints are kept", "reward.protocol: rubric"
    else:
        return
    for number, criterion in enumerate(data.criteria):
        if criterion.points < 0:
            yield Conflict(
                f"data.criteria.{number}.points",
                f"{criterion.points:g} is a penalty, but {what}",
                f"write it as a constraint with positive points, or set {remedy}",
            )


def _rules(reward: RewardSpec, data: DataSpec) -> Iterable[Conflict]:
    """Rows of the user's own bring their lines with them; prepare-data and training look at those."""
    if reward.combine != "rule_only" or not data.criteria:
        return
    if not any(criterion.verifier == "rule" and criterion.points > 0 for criterion in data.criteria):
        yield Conflict(
            "reward.combine",
            "rule_only, but data.criteria has no line with verifier rule and positive points",
            "give one such line, or choose another reward.combine",
        )


def _serving(judge: JudgeSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    if cluster.placement == "kubernetes" and judge.serving in ("embedded", "vllm"):
        yield Conflict(
            "judge.serving",
            f"{judge.serving} is a process of this machine, but cluster.placement is kubernetes",
            "set serving: kserve (on nodes without GPUs with deployment: {runtime: gavel-cpu}), or external with an "
            "endpoint that the pods can reach",
        )
    if cluster.placement == "local" and judge.serving == "kserve":
        yield Conflict(
            "judge.serving",
            "kserve needs a Kubernetes cluster, but cluster.placement is local",
            "set serving: embedded or vllm, or external with an endpoint",
        )


def _deployment(judge: JudgeSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    """What no copy of a judge finds on a node of its pool."""
    kubernetes, deployment = cluster.kubernetes, judge.deployment
    if kubernetes is None or judge.serving != "kserve":
        return
    name = deployment.pool or kubernetes.judge_pool
    pool = kubernetes.pool(name)
    if pool is None:
        if deployment.pool is not None:
            yield unknown_pool("judge.deployment.pool", name, kubernetes.pools)
        return
    if deployment.gpus > pool.gpus:
        yield Conflict(
            "judge.deployment.tensor_parallel",
            f"a copy of judge {judge.name} asks for {deployment.gpus} GPUs of one node, and a node of pool {name} has "
            f"{pool.gpus}",
            "choose a pool with GPUs in deployment.pool, lower tensor_parallel"
            f", or serve a small judge by deployment.runtime: {CPU_RUNTIME}",
        )
    for key, asked, has, unit in (
        ("cpus", deployment.cpus, pool.cpus, "CPUs"),
        ("memory_gib", deployment.memory_gib or 0, pool.memory_gib, "GiB"),
    ):
        if asked > has:
            yield Conflict(
                f"judge.deployment.{key}",
                f"a copy of judge {judge.name} asks for {asked:g} {unit}, and a node of pool {name} has {has:g}",
                f"lower deployment.{key}, or choose another deployment.pool",
            )
    if deployment.needs_gpu and judge.source is not None and judge.source.kind in ("package", "tiny"):
        yield Conflict(
            "judge.source.kind",
            f"{judge.source.kind} is read by our own server alone, and deployment.runtime is {deployment.runtime}",
            f"set deployment.runtime: {CPU_RUNTIME}, or take the weights from hub, folder or uri",
        )
    # The service's host is NAME-predictor-NAMESPACE; one part of a host name has at most 63 characters.
    host = f"{judge.name}-predictor-{kubernetes.namespace}"
    if len(host) > 63:
        yield Conflict(
            "cluster.kubernetes.namespace",
            f"the judge's host name {host!r} has {len(host)} characters, and KServe takes 63",
            "shorten the namespace, or the judge's name",
        )


def _reach(judge: JudgeSpec, data: DataSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    if cluster.placement == "local":
        return
    host = urllib.parse.urlsplit(judge.endpoint or "").hostname or ""
    if host == "localhost" or host == "::1" or host.startswith("127."):
        yield Conflict(
            "judge.endpoint",
            f"{judge.endpoint!r} is this machine, which the pods of cluster {cluster.name} do not reach",
            "give the address that they see, such as http://NAME.NAMESPACE.svc:8000",
        )
    if data.path is not None and not data.path.startswith("s3://"):
        yield Conflict(
            "data.path",
            f"{data.path!r} lies on this machine, but cluster.placement is kubernetes",
            "upload the file and give its s3:// URL, with sha256",
        )
    yield from mixture_reach(data)


def _rows(data: DataSpec, training: TrainingSpec) -> Iterable[Conflict]:
    if data.mixture is not None:
        yield from mixture_rows(data, training)
        return
    if data.train_rows < training.prompts_per_step:
        yield Conflict(
            "data.train_rows",
            f"{data.train_rows} rows do not fill one step of training.prompts_per_step {training.prompts_per_step}",
            f"use at least {training.prompts_per_step} rows, or fewer prompts a step",
        )


def _workers(training: TrainingSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    if training.prompts_per_step % training.mini_batch_prompts:
        return
    workers = max(1, cluster.gpus) if cluster.accelerator == "gpu" else 1
    rollouts = training.prompts_per_step * training.rollouts_per_prompt
    in_update = training.mini_batch_prompts * training.rollouts_per_prompt
    share = f" on each of {workers} GPUs" if workers > 1 else ""
    if rollouts % workers:
        yield Conflict(
            "training.prompts_per_step",
            f"{training.prompts_per_step} x rollouts_per_prompt {training.rollouts_per_prompt} = {rollouts} rollouts "
            f"cannot be shared evenly by cluster.gpus {workers}",
            f"make the product a multiple of {workers}",
        )
    elif in_update % workers:
        yield Conflict(
            "training.mini_batch_prompts",
            f"{training.mini_batch_prompts} x rollouts_per_prompt {training.rollouts_per_prompt} = {in_update} "
            f"rollouts cannot be shared evenly by cluster.gpus {workers}",
            f"make the product a multiple of {workers}",
        )
    elif (in_update // workers) % training.micro_batch:
        yield Conflict(
            "training.micro_batch",
            f"{training.micro_batch} does not divide the {in_update // workers} rollouts of one update{share} "
            f"(mini_batch_prompts {training.mini_batch_prompts} x rollouts_per_prompt {training.rollouts_per_prompt})",
            f"use a divisor of {in_update // workers}",
        )


def _memory(policy: PolicySpec, training: TrainingSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    """Weights alone, as a lower bound: trained copy with gradient and AdamW's two moments (4 x 4 bytes), one copy that
    generates, one reference copy when the loss has a KL term. Activations, judge and libraries come on top."""
    if cluster.accelerator != "cpu":
        return
    copy = _BYTES[policy.dtype]
    trained = 16 if training.lora is None else copy
    reference = copy if training.kl_coefficient > 0 and training.lora is None else 0
    way = "all of them" if training.lora is None else "with LoRA"
    needed = policy.parameters * (trained + copy + reference) / _GIB
    if needed > cluster.memory_gib:
        yield Conflict(
            "policy.parameters",
            f"{policy.parameters} weights need {needed:.0f} GiB to be trained on a CPU "
            f"({way}, training.kl_coefficient {training.kl_coefficient}), more than cluster.memory_gib "
            f"{cluster.memory_gib}",
            "choose a smaller policy, or a cluster with GPUs",
        )


class Check(NamedTuple):
    """One check and the parts that it reads, in the order of its arguments; an absent optional one is None."""

    parts: tuple[str, ...]
    run: Callable[..., Iterable[Conflict]]
    optional: tuple[str, ...] = ()


CHECKS = (
    Check(("policy", "training"), _context, ("workflow",)),
    Check(("policy", "training", "evaluation"), _evaluation_context),
    Check(("policy", "evaluation", "cluster"), _ifeval),
    Check(("judge", "reward", "training", "evaluation"), _judge_context),
    Check(("judge", "reward"), _logprobs),
    Check(("judge",), _rules_name, ("panel",)),
    Check(("reward",), _value, ("panel",)),
    Check(("reward", "data"), _judged),
    Check(("reward", "training"), _canaries),
    Check(("reward", "data"), _penalties),
    Check(("reward", "data"), _rules),
    Check(("reward", "data"), mixture_conflicts),
    Check(("data", "training"), mixture_scaffold),
    Check(("policy", "data", "evaluation"), tasks_conflicts),
    Check(("judge", "cluster"), _serving),
    Check(("judge", "cluster"), _deployment),
    Check(("judge", "data", "cluster"), _reach),
    Check(("data", "training"), _rows),
    Check(("training", "cluster"), _workers),
    Check(("policy", "training", "cluster"), _memory),
    Check(("judge", "reward", "panel"), panel_conflicts),
    Check(("judge", "reward", "data"), workflow_conflicts, ("workflow", "panel")),
    Check(("workflow", "cluster"), example_places),
)
OF_SERVERS = tuple(check for check in CHECKS if check.run in (_serving, _deployment, _reach))


def conflicts_among(parts: dict[str, Spec], broken: Collection[str] = ()) -> Iterable[Conflict]:
    """Run every check whose parts are all there; keys of the conflicts start at the experiment.

    Args:
        parts: that are right by themselves.
        broken: further ones that are there and are not, so that nothing can be said of them.
    """
    checks = [check for check in CHECKS if not set(check.optional) & set(broken)]
    found = list(_run(parts, checks))
    panel = parts.get("panel")
    if isinstance(panel, PanelSpec):
        of_judges = [
            check for check in checks if "judge" in check.parts and "panel" not in (*check.parts, *check.optional)
        ]
        for number, member in enumerate(panel.members):
            for conflict in _run({**parts, "judge": member}, of_judges):
                head, _, rest = conflict.key.partition(".")
                if head == "judge":
                    found.append(conflict._replace(key=f"panel.members.{number}.{rest}"))
                elif conflict not in found:
                    found.append(conflict)
    workflow = parts.get("workflow")
    if isinstance(workflow, WorkflowSpec):
        for conflict in _run({**parts, "judge": workflow.executor}, OF_SERVERS):
            head, _, rest = conflict.key.partition(".")
            if head == "judge":
                what = conflict.what.replace("judge", "executor", 1)
                found.append(conflict._replace(key=f"workflow.executor.{rest}", what=what))
            elif conflict not in found:
                found.append(conflict)
    return found


def _run(parts: dict[str, Spec], checks: Iterable[Check]) -> Iterable[Conflict]:
    for check in checks:
        if all(part in parts for part in check.parts):
            yield from check.run(*(parts[part] for part in check.parts), *(parts.get(part) for part in check.optional))
