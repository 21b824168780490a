"""The step score on a cluster whose judge ended while answers were generated."""

import sys
from pathlib import Path

import pytest
from scripted_judge import MODEL, ScriptedJudge
from test_score_step import Case

sys.path.insert(0, str(Path(__file__).parents[1] / "kube"))
from kube_fixture import Api, double
from operators import Serving, ServingOperator

from components.core.errors import JudgeError
from components.core.spec import Experiment, load_experiment
from components.judge.kserve.lookup import services_of
from components.judge.leases.record import leases_of
from components.kube.kinds import INFERENCE_SERVICES
from components.score.step import STEP

__all__ = ["double"]
JUDGE = (
    "judge={name: scripted, family: test, parameters: 1000, serving: kserve, source: {kind: tiny, seed: 1}, "
    f"model_name: {MODEL}, deployment: {{runtime: gavel-cpu, cpus: 0.1, memory_gib: 1}}, "
    "context_tokens: 2048, logprobs: true, timeout_seconds: 5, attempts: 1, max_concurrency: 2}"
)


def on_cluster(api: Api) -> Experiment:
    return load_experiment(
        "tiny",
        (
            JUDGE,
            "cluster=dev",
            f"cluster.kubernetes.namespace={api.namespace}",
            "data.train_rows=4",
            "data.heldout_rows=10",
        ),
    )


def test_scores_come_from_a_judge_that_is_brought_up_again(
    double: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    case = Case(tmp_path)
    context = case._context(on_cluster(double), "score", **case.inputs)
    with ScriptedJudge().serve() as url, ServingOperator(double, Serving(url=url)) as operator:
        found = dict(STEP.run(context))
        assert operator.failures == []
    assert (found["trained_samples"], found["trained_abstained"]) == (10, 0)
    [service] = services_of(double.cluster(), "scripted")
    leases = leases_of(service)
    assert leases is not None
    assert [lease.holder for lease in leases.held.values()] == ["run-1"]


def test_a_judge_that_does_not_come_up_again_is_why_score_fails(
    double: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    case = Case(tmp_path)
    context = case._context(on_cluster(double), "score", **case.inputs)
    with (
        ServingOperator(double, Serving(trouble="out-of-memory")),
        pytest.raises(JudgeError, match=r"judge scripted cannot become ready: out-of-memory"),
    ):
        STEP.run(context)


def test_answers_that_are_all_judged_bring_up_no_judge(
    double: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    case = Case(tmp_path)
    with ScriptedJudge().serve() as url, ServingOperator(double, Serving(url=url)):
        first = STEP.run(case._context(on_cluster(double), "score", **case.inputs))
    [service] = services_of(double.cluster(), "scripted")
    double.cluster().delete(INFERENCE_SERVICES, service["metadata"]["name"])
    again = STEP.run(case._context(on_cluster(double), "score", **case.inputs))
    assert again["trained_judge"] == first["trained_judge"]
    assert services_of(double.cluster(), "scripted") == []
