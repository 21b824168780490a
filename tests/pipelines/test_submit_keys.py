"""What submit tells of the judges' keys: known to be missing, not known, or nothing."""

import base64

import pytest
from kfp_double import KfpDouble
from kube_fixture import Api, double
from remote_world import kfp

from components.core.spec import load_experiment
from components.kube import kinds
from pipelines.__main__ import main
from pipelines.remote.keys import key_notes

__all__ = ["double", "kfp"]
EXPERIMENT = "verinstruct_rl"
KEY = str(load_experiment(EXPERIMENT).judge.api_key_env)
SECRET = "gavel-judge-keys"
VALUE = base64.b64encode(b"very-secret").decode()


def notes(user: Api, *overrides: str, runs: str = "", trains: bool = True) -> list[str]:
    """Trainers are in the namespace of the test, and so are the steps where nothing else is said."""
    experiment = load_experiment(EXPERIMENT, [f"cluster.kubernetes.namespace={user.namespace}", *overrides])
    return list(key_notes([experiment], runs or user.namespace, trains=trains))


def put(user: Api, **keys: str) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "data": keys}
    user.cluster().create(kinds.SECRETS, body)


def test_a_key_that_is_there_needs_no_word(double: Api) -> None:
    put(double, **{KEY: VALUE})
    assert notes(double) == []


@pytest.mark.parametrize("there", [None, {}, {"OTHER_KEY": VALUE}, {KEY: ""}])
def test_a_key_that_is_missing_is_told_once_a_namespace(double: Api, there: dict[str, str] | None) -> None:
    if there is not None:
        put(double, **there)
    [note] = notes(double)
    assert note.startswith(f"Secret {SECRET} in {double.namespace} has no {KEY}, and steps there will miss it")
    assert VALUE not in note


def test_further_keys_are_looked_for_too(double: Api) -> None:
    put(double, **{KEY: VALUE, "SPARE_1": VALUE})
    [note] = notes(double, "judge.more_key_envs=[SPARE_1, SPARE_2]")
    assert "has no SPARE_2, and steps" in note


def test_what_cannot_be_seen_is_said_to_be_unknown(double: Api) -> None:
    double.use("nobody")
    [note] = notes(double)
    assert note.startswith(f"whether Secret {SECRET} in {double.namespace} has {KEY} cannot be seen from here")
    assert "our account may not get secrets" in note
    assert f"kubectl -n {double.namespace} describe secret {SECRET}" in note


def test_steps_and_trainers_may_be_in_two_namespaces(double: Api) -> None:
    put(double, **{KEY: VALUE})
    [note] = notes(double, runs="kubeflow")
    assert note.startswith(f"Secret {SECRET} in kubeflow has no {KEY}")
    assert notes(double, "cluster.kubernetes.namespace=elsewhere", runs=double.namespace, trains=False) == []
    [note] = notes(double, "cluster.kubernetes.namespace=elsewhere", runs=double.namespace, trains=True)
    assert "in elsewhere has no" in note


def test_a_judge_without_a_key_needs_none(double: Api) -> None:
    double.use("nobody")
    assert notes(double, "judge.api_key_env=null") == []


def test_without_a_way_to_the_cluster_the_run_starts_all_the_same(
    kfp: KfpDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["submit", f"EXPERIMENT={EXPERIMENT}"]) == 0
    note = capsys.readouterr().err
    assert f"note: whether Secret {SECRET} in kubeflow has {KEY} cannot be seen from here (no way to a" in note
    assert f"note: whether Secret {SECRET} in gavel has" in note
    assert len(kfp.runs) == 1
