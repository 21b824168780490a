"""The parameters of a run, as a person may write them in the KFP UI."""

from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.core.request import Request, store_url
from components.core.spec import load_experiment
from components.core.spec.show import as_yaml
from components.resolve.resolving import kfp_resolve
from pipelines.remote.portable import portable

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SHIPPED = sorted(path.stem for path in (CONFIGS / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_experiment_survives_the_way_to_the_cluster(name):
    experiment = load_experiment(name)
    text = portable(experiment)
    # Nothing of this machine is in it.
    assert str(CONFIGS.parent) not in text
    back = Request(text).resolve()
    assert back.digest() == experiment.digest()
    assert Request(experiment.to_json()).resolve() == experiment


def test_all_forms_of_text_are_the_same_experiment():
    experiment = load_experiment("tiny")
    for text in ("tiny", " tiny\n", "use: tiny\nname: tiny", as_yaml(experiment), '{"use": "tiny", "name": "tiny"}'):
        assert Request(text).resolve() == experiment


@pytest.mark.parametrize("text", ["tiny", load_experiment("tiny").to_json(), as_yaml(load_experiment("tiny"))])
def test_parameters_replace_parts(text):
    found = Request(text, judge="smollm2-lr", seed=" 77 ", start_from="s3://models/mine/model").resolve()
    plain = load_experiment("tiny")
    assert (found.judge.name, found.seed) == ("smollm2-lr", 77)
    assert found.policy.source.model_dump() == {"kind": "uri", "uri": "s3://models/mine/model", "sha256": None}
    assert found.policy.name == plain.policy.name
    assert found.training == plain.training


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(""), "the experiment is empty"),
        (Request("nobody"), "nobody"),
        (Request("tiny", judge="nobody"), "nobody"),
        (Request("tiny", seed="seven"), "seed"),
        (Request("tiny", seed="1 2"), "seed"),
        (Request("tiny", start_from="http://x/y"), "policy.source.uri"),
        (Request("{"), "experiment.yaml"),
        (Request("use: tiny\ntraining: {stepz: 3}"), "did you mean steps?"),
        (Request('{"use": "tiny", "training": {"stepz": 3}}'), "did you mean steps?"),
    ],
)
def test_mistakes_are_told(request_, words):
    with pytest.raises(ConfigError) as caught:
        request_.resolve()
    assert words in str(caught.value)


def test_a_parameter_cannot_smuggle_in_another_override():
    with pytest.raises(ConfigError):
        Request("tiny", judge="tiny-lr seed=9").resolve()
    found = Request("tiny", start_from="s3://models/a, sha256: " + "0" * 64).resolve
    with pytest.raises(ConfigError):
        found()


def test_the_store_is_the_clusters_unless_one_is_given():
    local = load_experiment("tiny")
    assert store_url(local, " s3://other/place ") == "s3://other/place"
    with pytest.raises(ConfigError, match="no URL of its own"):
        store_url(local)
    cluster = load_experiment("verinstruct_rl")
    assert cluster.cluster.store.bucket == "gavel"
    assert store_url(cluster) == "s3://gavel"


def test_the_component_hands_on_text_and_flags(capsys):
    found = kfp_resolve(Request("verinstruct_rl"), base="1")
    assert found.experiment == load_experiment("verinstruct_rl").to_json()
    assert tuple(found)[1:] == ("s3://gavel", True, True, True)
    # Golds decide: no judge is asked.
    assert kfp_resolve(Request("tiny_mixed"), "file:///s").judged is False
    assert kfp_resolve(Request("tiny"), "file:///s", "").base is False
    assert kfp_resolve(Request("tiny"), "file:///s", "false").ifeval is False
    with pytest.raises(SystemExit) as caught:
        kfp_resolve(Request("nobody"), "file:///s")
    assert caught.value.code == 1
    assert "step resolve failed: " in capsys.readouterr().err


def test_files_of_this_machine_alone_are_told_before_the_way(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "one"}\n')
    experiment = load_experiment("tiny")
    data = experiment.data.model_copy(update={"path": str(rows)})
    with pytest.raises(ConfigError, match="on this machine alone") as caught:
        portable(experiment.model_copy(update={"data": data}))
    assert caught.value.where == "data.path"
