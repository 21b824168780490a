"""Every field says what it is, in which unit, and its default; editors get it through the JSON schema."""

import json
import re
from collections.abc import Iterator

import pytest
from pydantic.fields import FieldInfo

from components.core.spec import mixture, source, study, tasks, workflow, workflow_buffer, workflow_reward
from components.core.spec.base import Spec
from components.core.spec.canaries import CanarySpec
from components.core.spec.cluster import ClusterSpec, StoreSpec
from components.core.spec.data import CriterionSpec, DataSpec, GoldSpec
from components.core.spec.deployment import JudgeDeployment
from components.core.spec.evaluation import EvaluationSpec
from components.core.spec.experiment import Experiment
from components.core.spec.ifeval import IFEvalSpec
from components.core.spec.judge import JudgeSpec
from components.core.spec.judge_limits import JudgeBudget, JudgeLimits, JudgePrice
from components.core.spec.kubernetes import KubernetesSpec, PoolSpec, RdmaSpec, Toleration
from components.core.spec.panel import PanelSpec
from components.core.spec.policy import PolicySpec
from components.core.spec.reward import RewardPrompts, RewardSpec
from components.core.spec.scaffold import ScaffoldSpec
from components.core.spec.training import LoraSpec, TrainingSpec

MODELS: list[type[Spec]] = [
    Experiment,
    PolicySpec,
    JudgeSpec,
    JudgeLimits,
    JudgeBudget,
    JudgePrice,
    JudgeDeployment,
    PanelSpec,
    RewardSpec,
    RewardPrompts,
    DataSpec,
    CriterionSpec,
    GoldSpec,
    mixture.MixtureSpec,
    mixture.MixtureSources,
    mixture.TaskFiles,
    mixture.MbppFiles,
    mixture.DataFile,
    mixture.HubFile,
    mixture.DomainWeights,
    mixture.DedupSpec,
    mixture.DecidedBy,
    TrainingSpec,
    LoraSpec,
    ScaffoldSpec,
    CanarySpec,
    EvaluationSpec,
    IFEvalSpec,
    tasks.TasksSpec,
    tasks.DomainTokens,
    tasks.DomainSamples,
    ClusterSpec,
    StoreSpec,
    KubernetesSpec,
    PoolSpec,
    RdmaSpec,
    Toleration,
    source.HubSource,
    source.FolderSource,
    source.PackageSource,
    source.TinySource,
    source.UriSource,
    source.ScriptedSource,
    study.StudySpec,
    study.StudyJudge,
    study.StudyProbes,
    study.StudyDrift,
    workflow_reward.WorkflowRewardSpec,
    workflow.WorkflowCorrectness,
    workflow.WorkflowBudget,
    workflow.WorkflowSpec,
    workflow_buffer.EncoderPackage,
    workflow_buffer.EmbedderSpec,
    workflow_buffer.BufferSpec,
    workflow_reward.TermWeights,
    workflow_reward.DomainLadders,
    workflow_reward.EfficiencyLadder,
    workflow_reward.SimplicityLadders,
    workflow_reward.FormValues,
    workflow_reward.Ladder,
    workflow_reward.Rung,
]


def _fields() -> Iterator[tuple[str, FieldInfo]]:
    for model in MODELS:
        for name, field in model.model_fields.items():
            yield f"{model.__name__}.{name}", field


def test_list_of_models_is_complete() -> None:
    def below(model: type[Spec]) -> set[type[Spec]]:
        return {model}.union(*(below(child) for child in model.__subclasses__()))

    assert below(Spec) - {Spec} == set(MODELS)


@pytest.mark.parametrize(("name", "field"), list(_fields()))
def test_field_documents_unit_and_default(name: str, field: FieldInfo) -> None:
    text = " ".join((field.description or "").split())
    found = re.fullmatch(r"(?P<purpose>.{10,}) Unit: (?P<unit>[A-Za-z]+)\. (Required|Default: (?P<default>.+))\.", text)
    assert found, f"{name}: {text!r}"
    if field.is_required():
        assert found["default"] is None, name
    else:
        default = field.get_default(call_default_factory=True)
        plain = default.model_dump(mode="json") if isinstance(default, Spec) else default
        assert json.loads(found["default"]) == (list(plain) if isinstance(plain, tuple) else plain), name


def test_schema_carries_the_documentation_of_every_field() -> None:
    schema = Experiment.model_json_schema()
    for definition in (schema, *schema["$defs"].values()):
        for name, entry in definition["properties"].items():
            assert "Unit: " in entry.get("description", ""), f"{definition['title']}.{name}"


def test_models_are_frozen_and_closed() -> None:
    for model in MODELS:
        assert model.model_config["frozen"], model
        assert model.model_config["extra"] == "forbid", model
        assert model.model_config["strict"], model
