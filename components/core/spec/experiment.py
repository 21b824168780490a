"""The experiment: all parts together, its JSON form, its hash and the parts of it that results depend on."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from components.core.errors import ConfigError
from components.core.identity import canonical_json, digest
from components.core.spec import checks
from components.core.spec.base import Conflict, Label, Seed, Spec
from components.core.spec.cluster import ClusterSpec
from components.core.spec.data import DataSpec
from components.core.spec.evaluation import EvaluationSpec
from components.core.spec.explain import problems_of
from components.core.spec.judge import JudgeSpec
from components.core.spec.panel import PanelSpec, members_of
from components.core.spec.places import Map, Mark, located
from components.core.spec.policy import PolicySpec
from components.core.spec.problems import config_error
from components.core.spec.reward import RewardSpec
from components.core.spec.training import TrainingSpec
from components.core.spec.workflow import WorkflowSpec

MODELS: dict[str, type[Spec]] = {
    "policy": PolicySpec,
    "judge": JudgeSpec,
    "reward": RewardSpec,
    "data": DataSpec,
    "training": TrainingSpec,
    "evaluation": EvaluationSpec,
    "cluster": ClusterSpec,
}
PARTS = tuple(MODELS)
OPTIONAL: dict[str, type[Spec]] = {"panel": PanelSpec, "workflow": WorkflowSpec}
"""Parts that an experiment may do without."""


class Experiment(Spec):
    """One run of the pipeline, fully resolved: nothing is looked up by name any more.

    The ``*_identity`` methods return the JSON-able part of the specification that decides a kind of result. They leave
    out where things run (cluster, endpoint, ports), how patiently (timeouts, deadlines, concurrency) and what is only
    description (family, licence), so that changing those repeats no work.
    """

    name: Label
    """Names the folder of results and the jobs: lower-case letters, digits and hyphens, at most 40; the file's name
    where the file gives none. Unit: none. Required."""
    seed: Seed = 0
    """Seed of data split, sampling and statistics. Unit: none. Default: 0."""
    policy: PolicySpec
    """The model that is trained: a name in configs/policies, or a mapping. Unit: none. Required."""
    judge: JudgeSpec
    """The model that judges: a name in configs/judges, or a mapping. Unit: none. Required."""
    panel: PanelSpec | None = None
    """Further judges that decide together with ``judge``; null for one judge alone. Unit: none. Default: null."""
    workflow: WorkflowSpec | None = None
    """What executes the policy's workflows and what they earn; null where it answers by itself. Unit: none.
    Default: null."""
    reward: RewardSpec
    """How verdicts become a reward: a name in configs/rewards, or a mapping. Unit: none. Required."""
    data: DataSpec
    """Prompts, rubric and gold checks: a name in configs/datasets, or a mapping. Unit: none. Required."""
    training: TrainingSpec
    """GRPO's settings. Unit: none. Required."""
    evaluation: EvaluationSpec
    """Generation and statistics on the held-out prompts. Unit: none. Required."""
    cluster: ClusterSpec
    """Where everything runs: a name in configs/clusters, or a mapping. Unit: none. Required."""

    def conflicts(self) -> Iterable[Conflict]:
        parts = {part: getattr(self, part) for part in (*PARTS, *OPTIONAL)}
        return checks.conflicts_among({part: spec for part, spec in parts.items() if spec is not None})

    def judges(self) -> Sequence[JudgeSpec]:
        """Every judge that decides: the judge, and the panel's further members."""
        return members_of(self.judge, self.panel)

    @property
    def asks_judge(self) -> bool:
        """Whether a judge is asked anything: the answers to a mixture's tests are scored by their own metrics, so that
        there it is asked in training or not at all. Of workflows, a judge may say whether their answers are right."""
        if self.workflow is not None:
            return self.workflow.asks_a_judge
        return self.data.kind != "mixture" or self.reward.asks_in_training

    def served(self) -> Sequence[JudgeSpec]:
        """Every model that must be up: judges that are asked, and the executor model of workflows."""
        judges = tuple(self.judges()) if self.asks_judge else ()
        if self.workflow is None or self.workflow.executor in judges:
            return judges
        return (*judges, self.workflow.executor)

    @property
    def verdict_name(self) -> str:
        """Under which name the verdicts stand that make the reward: the judge's, or the panel's."""
        return self.judge.name if self.panel is None else self.panel.name

    def to_json(self) -> str:
        """The whole experiment as canonical JSON: sorted keys, no spaces; ``from_json`` reads it back equal."""
        return canonical_json(self._tree())

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        """Read what ``to_json`` wrote.

        Raises:
            ConfigError: the text is no JSON, or not an experiment; every mistake is listed.
        """
        mark = Mark("experiment JSON")
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            try:
                data = located(json.loads(text), mark)
            except ValueError:
                data = Map({}, mark)
            tree = data if isinstance(data, Map) else Map({}, mark)
            raise config_error("the experiment's JSON", problems_of(error, cls, tree)) from error
        except UnicodeError as error:
            raise ConfigError(f"the experiment's JSON is not Unicode: {error}") from error

    def digest(self) -> str:
        """Sha256 (hex) of the canonical JSON. Paths whose content is known stand aside for the content's hash, so that
        a moved file changes nothing."""
        tree = self._tree()
        if self.data.sha256:
            del tree["data"]["path"]
        if self.data.mixture is not None:
            tree["data"]["mixture"] = self.data.mixture.identity()
        if self.policy.chat_template_text is not None:
            del tree["policy"]["chat_template"]
        ifeval = tree["evaluation"]["ifeval"]
        if ifeval and ifeval["sha256"]:
            del ifeval["path"]
        members = tree["panel"]["members"] if tree["panel"] else []
        if tree["workflow"]:
            members = [*members, tree["workflow"]["executor"], tree["workflow"]["buffer"]["embedder"]]
        for part in (tree["policy"], tree["judge"], *members):
            source = part["source"]
            if source and source.get("sha256"):
                source.pop("path", None)
                source.pop("uri", None)
        return digest(tree)

    def _tree(self) -> dict[str, Any]:
        """All of it as JSON values. Canaries stand there where there are some alone, so that an experiment without them
        has the hash that it had before there were any."""
        tree = self.model_dump(mode="json")
        if self.training.canaries is None:
            del tree["training"]["canaries"]
        return tree

    def data_identity(self) -> dict[str, Any]:
        """What decides the rows: they carry rubric and gold checks. A file counts by its content where it is known."""
        tree = self.data.model_dump(mode="json", exclude={"path"} if self.data.sha256 else set())
        if self.data.mixture is not None:
            tree["mixture"] = self.data.mixture.identity()
        found = {**tree, "seed": self.seed}
        # Who answers with workflows is prompted for them.
        return found if self.workflow is None else {**found, "prompts": "workflow"}

    def policy_identity(self) -> dict[str, Any]:
        """What decides how the starting policy answers; see the sources' ``identity`` for local folders."""
        known = self.policy.model_dump(mode="json", include={"dtype", "context_tokens", "system_prompt"})
        template = self.policy.chat_template_text
        return {
            **known,
            "source": self.policy.source.identity(),
            "chat_template": self.policy.chat_template if template is None else template,
        }

    def judge_identity(self) -> dict[str, Any]:
        """What decides a verdict, wherever and however the judge is served."""
        found = self.judge.identity()
        if self.panel is not None:
            found["panel"] = {
                "name": self.panel.name,
                "combine": self.panel.combine,
                "quorum": self.panel.quorum,
                "members": [member.identity() for member in self.panel.members],
            }
        return found

    def reward_identity(self) -> dict[str, Any]:
        """What decides a reward, given verdicts. What training makes of failures is no part: see
        :meth:`rewarding_identity`."""
        return self.reward.model_dump(mode="json", exclude={"name", "pause_minutes", "failures"})

    def rewarding_identity(self) -> dict[str, Any]:
        """What decides the rewards of training, given responses. A control arm trains without judge and protocol, so
        that one training can be scored by several."""
        if self.workflow is not None:
            return self._workflow_identity()
        if self.reward.asks_in_training:
            zero = {"failures": self.reward.failures} if self.reward.fails_to_zero else {}
            return {"judge": self.judge_identity(), "reward": self.reward_identity(), **zero}
        used = {"combine", "clip", "length_target", "min_known_weight", "max_abstain_rate"}
        return {"reward": self.reward.model_dump(mode="json", include=used)}

    def _workflow_identity(self) -> dict[str, Any]:
        """A judge counts where one is asked; of the reward's own settings, when samples abstain."""
        assert self.workflow is not None
        found = {"workflow": self.workflow.identity(), "examples": self.workflow.buffer_identity()}
        if self.asks_judge:
            return {**found, "judge": self.judge_identity(), "reward": self.reward_identity()}
        return {**found, "reward": self.reward.model_dump(mode="json", include={"combine", "max_abstain_rate"})}

    def workflow_identity(self) -> dict[str, Any] | None:
        """What decides the answers of given workflows and their rewards; None where there are no workflows."""
        if self.workflow is None:
            return None
        found = self.workflow.identity()
        return {**found, "judge": self.judge_identity(), "asked": self.reward_identity()} if self.asks_judge else found

    def training_identity(self) -> dict[str, Any]:
        """What decides the trained weights, given policy, data, judge and reward. Checkpoint keeping is left out: it
        only decides where a killed run goes on; and so are trackers, which only look on. Checkpoints that are published
        and canaries count where there are some, since they are part of the result."""
        left_out = {"deadline_minutes", "stall_minutes", "checkpoint_every", "keep_checkpoints", "trackers"}
        left_out |= {name for name in ("publish_every", "canaries") if getattr(self.training, name) is None}
        return {**self.training.model_dump(mode="json", exclude=left_out), "seed": self.seed}

    def generation_identity(self) -> dict[str, Any]:
        """What decides the held-out responses, given a model."""
        others = {"bootstrap_samples", "confidence", "ifeval", "tasks"}
        return {**self.evaluation.model_dump(mode="json", exclude=others), "seed": self.seed}

    def ifeval_identity(self) -> dict[str, Any] | None:
        """What decides the figures of IFEval, given a model; None where it is not asked for. A file counts by its
        content where that is known."""
        ifeval = self.evaluation.ifeval
        if ifeval is None:
            return None
        tree = ifeval.model_dump(mode="json", exclude={"path"} if ifeval.sha256 else set())
        return {**tree, "seed": self.seed}

    def tasks_identity(self) -> dict[str, Any] | None:
        """What decides the answers on the task sets and their figures, given a model and the sets; None where they are
        not asked for."""
        tasks = self.evaluation.tasks
        return None if tasks is None else {**tasks.model_dump(mode="json"), "seed": self.seed}

    def evaluation_identity(self) -> dict[str, Any]:
        """What decides the evaluation as a whole: generation and statistics."""
        known = self.evaluation.model_dump(mode="json", exclude={"ifeval"})
        return {**known, "ifeval": self.ifeval_identity(), "seed": self.seed}

    def description(self) -> dict[str, Any]:
        """Names and remarks that decide no result but that a report prints."""
        return {
            "experiment": self.name,
            "policy": self.policy.model_dump(mode="json", include={"name", "licence", "parameters"}),
            "judge": self.judge.model_dump(mode="json", include={"name", "family", "parameters", "weak"}),
            "reward": self.reward.name,
            "data": self.data.name,
        }
