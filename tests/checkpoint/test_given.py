"""Checkpoints and models that lie anywhere become published model folders."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from components.checkpoint import merged
from components.checkpoint.__main__ import main
from components.checkpoint.given import find, import_step
from components.checkpoint.same_model import policy_shape
from components.core.errors import ConfigError, StepError
from components.core.progress import Progress
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.spec import load_experiment
from components.core.step.execute import perform
from components.core.store import Store

TINY = load_experiment("tiny")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    return tmp_path / "state"


@pytest.fixture
def actor(tmp_path: Path, policy: Path, make_checkpoint: Callable[..., Path]) -> Path:
    torch.manual_seed(1)
    state = AutoModelForCausalLM.from_pretrained(policy, dtype=torch.float32).state_dict()
    trained = {name: tensor * (1 + 1e-3 * torch.rand_like(tensor)) for name, tensor in state.items()}
    trained["lm_head.weight"] = trained["model.embed_tokens.weight"]
    folder = make_checkpoint(tmp_path / "global_step_4" / "actor", trained)
    (folder / "optim_world_size_1_rank_0.pt").write_bytes(b"large")
    return folder


def test_a_model_is_taken_as_it_is_and_found_again_wherever_it_lies(tmp_path: Path, policy: Path, state: Path):
    store = (tmp_path / "store").as_uri()
    first = perform(import_step(str(policy)), TINY, store, {})
    assert (first.reused, first.metadata["merged"]) == (False, False)
    published = Path(first.uri.removeprefix("file://")) / "model"
    assert (published / "model.safetensors").read_bytes() == (policy / "model.safetensors").read_bytes()
    shutil.copytree(policy, tmp_path / "moved")
    assert perform(import_step((tmp_path / "moved").as_uri()), TINY, store, {}).uri == first.uri
    # What the step published is itself a model.
    assert perform(import_step(first.uri), TINY, store, {}).uri == first.uri
    (tmp_path / "moved" / "generation_config.json").write_text("{}")
    assert perform(import_step(str(tmp_path / "moved")), TINY, store, {}).uri != first.uri


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda all_: {n: t for n, t in all_.items() if ".mlp." not in n}, "missing: 6 tensors"),
        (lambda all_: {f"foo.{n}": t for n, t in all_.items()}, "not known to the model: 26 tensors"),
        (lambda all_: {n: t * float("nan") for n, t in all_.items()}, "hold NaN or infinite weights"),
    ],
)
def test_a_model_of_other_weights_is_not_taken(tmp_path: Path, policy: Path, state: Path, change, words: str):
    folder = shutil.copytree(policy, tmp_path / "m")
    changed = change(load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").unlink()
    save_file(changed, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(StepError, match=words):
        perform(import_step(str(folder)), TINY, (tmp_path / "store").as_uri(), {})


@pytest.mark.slow
def test_a_checkpoint_is_merged_once(tmp_path: Path, actor: Path, state: Path):
    pytest.importorskip("verl")
    store = (tmp_path / "store").as_uri()
    first = perform(import_step(str(actor.parent)), TINY, store, {})
    assert (first.metadata["merged"], first.metadata["logit_difference"]) == (True, 0.0)
    # The optimizer's state decides nothing.
    (actor / "optim_world_size_1_rank_0.pt").unlink()
    again = perform(import_step(str(actor)), TINY, store, {})
    assert (again.reused, again.uri) == (True, first.uri)


@pytest.mark.slow
def test_the_command_merges_into_a_folder(tmp_path: Path, actor: Path, state: Path, capsys):
    pytest.importorskip("verl")
    target = tmp_path / "merged"
    assert main(["merge", str(actor), str(target)]) == 0
    assert "logit_difference" in capsys.readouterr().out
    assert json.loads((target / "config.json").read_text())["dtype"] == "float32"
    assert main(["merge", str(actor), str(target)]) == 0
    assert "merged before" in capsys.readouterr().out
    assert main(["merge", str(actor), str(target), "--dtype", "bfloat16"]) == 1
    assert "not of this checkpoint" in capsys.readouterr().err
    assert main(["merge", str(target), str(tmp_path / "n")]) == 1
    assert "merged model already" in capsys.readouterr().err


def test_the_command_says_what_is_wrong(tmp_path: Path, actor: Path, state: Path, capsys):
    (actor / "model_world_size_1_rank_0.pt").write_bytes(b"")
    assert main(["merge", str(actor.parent), str(tmp_path / "m")]) == 1
    assert "not whole: model_world_size_1_rank_0.pt was cut short" in capsys.readouterr().err
    assert main(["merge", str(tmp_path / "none"), str(tmp_path / "m")]) == 1
    assert "there is no such folder" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_training_that_diverged_is_told_before_anything_is_merged(
    tmp_path: Path, actor: Path, state: Path, monkeypatch: pytest.MonkeyPatch, capsys, value: float
):
    trained = torch.load(actor / "model_world_size_1_rank_0.pt")
    trained["model.layers.1.mlp.up_proj.weight"][2, 3] = value
    torch.save(trained, actor / "model_world_size_1_rank_0.pt")
    monkeypatch.setattr(merged, "merge", lambda *_, **__: pytest.fail("verl was started"))
    assert main(["merge", str(actor), str(tmp_path / "m")]) == 1
    said = capsys.readouterr().err
    assert "1 tensors (model.layers.1.mlp.up_proj.weight) hold NaN or infinite trained weights: the training" in said
    assert "take an older checkpoint of this training" in said


@pytest.mark.parametrize("fault", ["another model", "the merger"])
def test_a_merge_that_failed_leaves_no_model(
    tmp_path: Path, actor: Path, policy: Path, state: Path, monkeypatch: pytest.MonkeyPatch, capsys, fault: str
):
    def half(_checkpoint: Path, target: Path, *_: object, **__: object) -> None:
        shutil.copytree(policy, target)
        if fault == "the merger":
            raise StepError("verl's merger failed")

    monkeypatch.setattr(merged, "merge", half)
    assert main(["merge", str(actor), str(tmp_path / "to" / "m")]) == 1
    assert ("merged weights differ" if fault == "another model" else "merger failed") in capsys.readouterr().err
    assert not list((tmp_path / "to").iterdir())


@pytest.mark.s3
def test_a_checkpoint_in_a_bucket_is_fetched_without_the_optimizer(
    tmp_path: Path, actor: Path, state: Path, monkeypatch: pytest.MonkeyPatch
):
    manager = ServiceManager(state)
    try:
        for name, value in seaweedfs.start(state, bucket="gavel", manager=manager).items():
            monkeypatch.setenv(name, value)
        store = Store.open("s3://gavel")
        for path in actor.rglob("*"):
            if path.is_file():
                store.write_bytes(f"runs/global_step_4/actor/{path.relative_to(actor).as_posix()}", path.read_bytes())
        uri = "s3://gavel/runs/global_step_4"
        located = find(uri, Progress("x"))
        assert not located.merged
        names = {path.name for path in located.folder.rglob("*") if path.is_file()}
        assert "model_world_size_1_rank_0.pt" in names
        assert not any(name.startswith("optim_") for name in names)
        assert torch.load(located.folder / "model_world_size_1_rank_0.pt").keys()
        with pytest.raises(StepError, match="nothing lies below"):
            find("s3://gavel/runs/none", Progress("x"))
    finally:
        manager.end_all()


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path, policy: Path, state: Path, actor: Path):
    store = (tmp_path / "store").as_uri()
    perform(import_step(str(policy)), TINY, store, {})
    other = tmp_path / "other"
    shutil.copytree(policy, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 30, "vocab_size": 9}))
    # Not reused either, though this very content was imported before: the policy is another.
    elsewhere = load_experiment("tiny", [f"policy.source={{kind: folder, path: '{other}'}}"])
    with pytest.raises(ConfigError, match=r"layers 2 \(policy: 30\), vocabulary 1024 \(policy: 9\)") as caught:
        perform(import_step(str(policy)), elsewhere, store, {})
    assert "policy=NAME" in caught.value.remedy
    with pytest.raises(ConfigError, match="layers 30"):
        perform(import_step(str(other)), TINY, store, {})
    # A trainer's checkpoint has its config.json one folder below.
    with pytest.raises(ConfigError, match="huggingface"):
        perform(import_step(str(actor)), elsewhere, store, {})


@pytest.mark.parametrize(("arguments", "told"), [(["c", ""], "TARGET="), (["", "t"], "CHECKPOINT=")])
def test_a_variable_of_make_that_is_not_set_is_named(capsys, arguments: list[str], told: str):
    assert main(["merge", *arguments]) == 1
    said = capsys.readouterr().err
    assert f"{told} is missing" in said
    assert "remove" not in said


def test_a_packaged_policy_is_known_without_its_conversion(tmp_path: Path, policy: Path):
    source = load_experiment("quickstart").policy.source
    # Of SmolLM2-135M's published config.json.
    published = {"model_type": "llama", "hidden_size": 576, "num_hidden_layers": 30, "vocab_size": 49152}
    assert policy_shape(source, tmp_path) == published


def test_a_policy_that_is_not_here_is_warned_of(tmp_path: Path, policy: Path, state: Path, capfd, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    away = load_experiment("tiny", ["policy.source={kind: hub, repo: nobody/nothing-of-the-kind}"])
    perform(import_step(str(policy)), away, (tmp_path / "store").as_uri(), {})
    said = "".join(capfd.readouterr())
    assert "WARNING: not checked that the checkpoint is of the experiment's policy" in said
