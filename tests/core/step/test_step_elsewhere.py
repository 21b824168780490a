"""A step whose work is done by a job of the cluster."""

import dataclasses
from pathlib import Path

import pytest
from step_samples import STEPS

from components.core.errors import StepError
from components.core.spec import Experiment
from components.core.step import Elsewhere, Step, execute, runlog
from components.core.step.execute import perform


@pytest.fixture
def on_cluster(experiment: Experiment) -> Experiment:
    cluster = experiment.cluster.model_copy(update={"placement": "kubernetes"})
    return experiment.model_copy(update={"cluster": cluster})


def calls(state: Path) -> int:
    path = state / "calls-consume"
    return path.stat().st_size if path.exists() else 0


def delegated(seen: list[Elsewhere], monkeypatch: pytest.MonkeyPatch) -> Step:
    """Does the work in a "job" in this process, as the driver inside does."""

    def go(asked: Elsewhere) -> None:
        seen.append(asked)
        with monkeypatch.context() as inside:
            inside.setenv("GAVEL_INSIDE_JOB", "1")
            perform(step, asked.experiment, asked.store_url, asked.inputs)

    step = dataclasses.replace(STEPS["consume"], elsewhere=go)
    return step


def test_on_a_cluster_the_job_does_the_work_and_the_step_returns_its_result(
    on_cluster: Experiment, state: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    produced = perform(STEPS["produce"], on_cluster, store_url, {})
    seen: list[Elsewhere] = []
    step = delegated(seen, monkeypatch)
    made = perform(step, on_cluster, store_url, {"data": produced.uri})
    assert (made.reused, calls(state), len(seen)) == (False, 1, 1)
    assert made.metadata["text"] == "0"
    asked = seen[0]
    assert dict(asked.inputs) == {"data": produced.uri}
    assert made.uri.startswith(f"{store_url}/{asked.place}/")
    assert asked.identity == made.identity
    assert perform(step, on_cluster, store_url, {"data": produced.uri}).reused
    assert (calls(state), len(seen)) == (1, 1)


def test_the_identity_is_that_of_the_same_step_without_a_job(
    on_cluster: Experiment, experiment: Experiment, state: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    here = execute(STEPS["consume"], experiment.to_json(), store_url, {"data": produced.uri})
    seen: list[Elsewhere] = []
    there = perform(delegated(seen, monkeypatch), on_cluster, store_url, {"data": produced.uri})
    assert there.reused
    assert there.identity == here.identity
    assert not seen


def test_without_a_cluster_the_step_runs_here(
    experiment: Experiment, state: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    seen: list[Elsewhere] = []
    execute(delegated(seen, monkeypatch), experiment.to_json(), store_url, {"data": produced.uri})
    assert calls(state) == 1
    assert not seen


def test_a_job_that_left_no_result_is_told(on_cluster: Experiment, state: Path, store_url: str) -> None:
    produced = perform(STEPS["produce"], on_cluster, store_url, {})
    step = dataclasses.replace(STEPS["consume"], elsewhere=lambda asked: None)
    with pytest.raises(StepError, match="its result is not in the store"):
        perform(step, on_cluster, store_url, {"data": produced.uri})
    assert runlog.read(runlog.log_path(state))[-1].status == "failed"
